import { documents } from '../../scripts/documents.ts'

const texts = await documents()

/** The documents of the API, as `npm run build` writes them. */
export const openapiText = texts['openapi.json'] ?? ''
export const asyncapiText = texts['asyncapi.json'] ?? ''
