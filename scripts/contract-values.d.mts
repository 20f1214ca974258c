import type { Plugin } from 'vite'

export function contractValues(): Plugin
