import { messageOf } from '@sluice/core'
import { residentBytes } from '../telemetry/process-memory.js'
import { startCacheServer } from './start-cache-server.js'
import type { CacheSettings, FromServer, ToServer } from './store/settings.js'

function tell(message: FromServer): void {
  process.send?.(message, () => {})
}

/**
 * Serves until it is told to stop. On a fatal error the process ends, and the supervisor starts another one.
 */
async function serve(settings: CacheSettings): Promise<void> {
  const server = await startCacheServer(settings, (event, fields) => tell({ kind: 'event', event, fields }))
  tell({ kind: 'listening' })
  const beat = (): void => tell({ kind: 'heartbeat', rssBytes: residentBytes() })
  beat()
  process.on('message', ({ kind }: ToServer) => {
    if (kind === 'stop') server.stop()
    else if (kind === 'beat') void server.turned().then(beat)
  })
  const fault = await server.ended
  if (fault === null) process.exit(0)
  endWith(fault)
}

/**
 * Reports a fatal error and kills the process: its remaining threads would keep it alive, and cannot be
 * trusted.
 */
function endWith(message: string): void {
  if (process.connected) process.send!({ kind: 'fault', message } satisfies FromServer, die)
  else die()
}

function die(): void {
  process.kill(process.pid, 'SIGKILL')
}

// The supervisor handles signals sent to the process group, and tells this process when to end. Without a
// supervisor it must end by itself.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})
process.once('disconnect', () => process.exit())
process.once('message', (message: ToServer) => {
  if (message.kind === 'serve') serve(message.settings).catch((error: unknown) => endWith(messageOf(error)))
})
