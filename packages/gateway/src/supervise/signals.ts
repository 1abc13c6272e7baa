import type { OperationLog } from '../telemetry/operation-log.js'
import { hasParent, type ToSupervisor } from './parent/parent-link.js'
import type { Supervisor } from './supervisor.js'

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2'] as const
type Signal = (typeof SIGNALS)[number]

/**
 * Handles signals. SIGTERM drains; SIGINT drains without the load balancer delay. A second one cuts requests
 * in flight, and a third exits at once. SIGHUP calls `reload`, and SIGUSR2 starts the next version. Returns a
 * function that removes the handlers.
 */
export function handleSignals(supervisor: Supervisor, reload: () => void, log: OperationLog): () => void {
  let count = 0
  const end = (signal: Signal, delay: { readonly delayMs?: number }): void => {
    count++
    if (count === 1) return void supervisor.drain(signal, delay)
    log.warn('drain.cut', { signal })
    if (count === 2) supervisor.cut()
    else void supervisor.close(1)
  }
  const actions = {
    SIGTERM: () => end('SIGTERM', {}),
    SIGINT: () => end('SIGINT', { delayMs: 0 }),
    SIGHUP: reload,
    SIGUSR2: () => void supervisor.succession.upgrade('SIGUSR2'),
  } as const
  const own = withoutDuplicates(actions)
  const stops = SIGNALS.map((signal) => {
    const listener = (): void => own(signal, 'own')
    process.on(signal, listener)
    return () => void process.off(signal, listener)
  })
  if (hasParent()) {
    const listener = (message: ToSupervisor): void => {
      if ('signal' in message) own(message.signal, 'parent')
    }
    process.on('message', listener)
    stops.push(() => void process.off('message', listener))
  }
  return () => {
    for (const stop of stops) stop()
  }
}

/**
 * Deduplicates signals. A terminal signals the whole process group, so one signal arrives from the system and
 * again from the parent. It counts once. DocumentReloader twice is harmless.
 */
function withoutDuplicates(actions: Readonly<Record<Signal, () => void>>) {
  const counts = { own: new Map<Signal, number>(), parent: new Map<Signal, number>() }
  return (signal: Signal, from: 'own' | 'parent'): void => {
    const other = counts[from === 'own' ? 'parent' : 'own'].get(signal) ?? 0
    const count = (counts[from].get(signal) ?? 0) + 1
    counts[from].set(signal, count)
    if (signal === 'SIGHUP' || count > other) actions[signal]()
  }
}
