export { isSpaceName } from './cache-server/cache-address.js'
export type { CacheSettings, SpaceSettings } from './cache-server/settings.js'
export { type CacheReport, type CacheServer, startCacheServer } from './cache-server/start-cache-server.js'
export { type Tier, thisMachine, workerCount } from './supervise/sizing.js'
