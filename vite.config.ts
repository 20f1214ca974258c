import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { contractValues } from './scripts/contract-values.mjs'

export default defineConfig({
  root: 'client/web',
  plugins: [react(), contractValues()],
  build: { outDir: '../../dist/page', emptyOutDir: true, target: 'es2023', assetsInlineLimit: 0 },
})
