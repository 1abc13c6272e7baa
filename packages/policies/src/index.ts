export { hashKey, newKey } from './api-key/key.js'
export { hashPassword, verifyPassword } from './basic-auth/password.js'
export { catalog } from './catalog.js'
export { exampleOf, referenceOf } from './reference.js'
