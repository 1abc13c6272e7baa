import { lazyCatalog } from './catalog.js'

/** The catalog with all built-in policies and the body languages of conditions. */
export const catalog = lazyCatalog()
await catalog.load?.(() => true)
