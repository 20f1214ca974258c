import type { InlineConfig } from 'vite'

export function oneFile(source: string): InlineConfig
