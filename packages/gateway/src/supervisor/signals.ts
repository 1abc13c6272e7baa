import type { OperationLog } from '../telemetry/operation-log.js'
import { hasParent, type ToSupervisor } from './parent-link.js'
import type { Supervisor } from './supervisor.js'

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
type Signal = (typeof SIGNALS)[number]

/**
 * Handles signals. SIGTERM drains; SIGINT drains without the load balancer delay. A second one cuts requests
 * in flight, and a third exits at once. SIGHUP calls `reload`. Returns a function that removes the handlers.
 */
export function hearSignals(supervisor: Supervisor, reload: () => void, log: OperationLog): () => void {
  let heard = 0
  const end = (signal: Signal, delay: { readonly delayMs?: number }): void => {
    heard++
    if (heard === 1) return void supervisor.drain(signal, delay)
    log.warn('drain.cut', { signal })
    if (heard === 2) supervisor.cut()
    else void supervisor.close(1)
  }
  const meanings = {
    SIGTERM: () => end('SIGTERM', {}),
    SIGINT: () => end('SIGINT', { delayMs: 0 }),
    SIGHUP: reload,
  } as const
  const own = onceOfEach(meanings)
  const stops = SIGNALS.map((signal) => {
    const hear = (): void => own(signal, 'own')
    process.on(signal, hear)
    return () => void process.off(signal, hear)
  })
  if (hasParent()) {
    const hear = (message: ToSupervisor): void => {
      if ('signal' in message) own(message.signal, 'parent')
    }
    process.on('message', hear)
    stops.push(() => void process.off('message', hear))
  }
  return () => {
    for (const stop of stops) stop()
  }
}

/**
 * Deduplicates signals. A terminal signals the whole process group, so one signal arrives from the system and
 * again from the parent. It counts once. Reloading twice is harmless.
 */
function onceOfEach(meanings: Readonly<Record<Signal, () => void>>) {
  const counts = { own: new Map<Signal, number>(), parent: new Map<Signal, number>() }
  return (signal: Signal, from: 'own' | 'parent'): void => {
    const other = counts[from === 'own' ? 'parent' : 'own'].get(signal) ?? 0
    const count = (counts[from].get(signal) ?? 0) + 1
    counts[from].set(signal, count)
    if (signal === 'SIGHUP' || count > other) meanings[signal]()
  }
}
