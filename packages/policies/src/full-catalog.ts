import { lazyCatalog } from './catalog.js'

/** The policies that come with the gateway, by name, and what its conditions can ask bodies. */
export const catalog = lazyCatalog()
await catalog.load?.(() => true)
