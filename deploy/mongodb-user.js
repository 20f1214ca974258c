// Run once, by the first start of the database: the account of Plaza, which may use its own database alone.
const { readFileSync } = require('node:fs')

db.getSiblingDB('plaza').createUser({
  user: 'plaza',
  pwd: readFileSync('/run/secrets/mongodb-password', 'utf8').trim(),
  roles: [{ role: 'readWrite', db: 'plaza' }],
})
