import type { CacheSettings } from '../settings.js'
import { startCacheServer } from '../start-cache-server.js'

/** A cache server that sends its port to its parent. */
const server = await startCacheServer(JSON.parse(process.argv[2]!) as CacheSettings)
process.send?.(server.port)
process.once('disconnect', () => process.exit())
