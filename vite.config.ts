import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  root: 'client/web',
  plugins: [react()],
  build: { outDir: '../../dist/page', emptyOutDir: true, target: 'es2023', assetsInlineLimit: 0 },
})
