import type { InlineConfig } from 'vite'

export function oneFile(source: string, beside?: Readonly<Record<string, string>>): InlineConfig
