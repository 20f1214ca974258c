import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { contractValues } from './scripts/contract-values.mjs'

export default defineConfig({
  root: 'client/web',
  plugins: [react(), contractValues()],
  build: {
    outDir: '../../dist/page',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    // What every screen has is one file, as the head of an answer takes more than a kilobyte.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [{ name: 'common', test: /shared.errors|web.kit.(format|problem|icon)|node_modules.react./ }],
        },
      },
    },
  },
})
