import { startCacheServer } from '../start-cache-server.js'
import type { CacheSettings } from '../store/settings.js'

/** A cache server that sends its port to its parent. */
const server = await startCacheServer(JSON.parse(process.argv[2]!) as CacheSettings)
process.send?.(server.port)
process.once('disconnect', () => process.exit())
