window.SwaggerUIBundle({
  url: '/docs/openapi.json',
  dom_id: '#rest',
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  validatorUrl: null,
})
