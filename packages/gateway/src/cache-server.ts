export { isSpaceName } from './cache-server/cache-address.js'
export { type CacheReport, type CacheServer, startCacheServer } from './cache-server/start-cache-server.js'
export type { CacheSettings, SpaceSettings } from './cache-server/store/settings.js'
export { type Tier, thisMachine, workerCount } from './supervise/workers/sizing.js'
