import type { OperationLog } from '../telemetry/operation-log.js'
import type { Supervisor } from './supervisor.js'

/**
 * Gives signals their meaning: SIGTERM drains, SIGINT drains without the delay for load balancers, a second one of
 * either cuts at once, SIGHUP calls `reload`. Returns what takes the meaning away again.
 */
export function hearSignals(supervisor: Supervisor, reload: () => void, log: OperationLog): () => void {
  let heard = 0
  const end = (signal: string, delay: { readonly delayMs?: number }): void => {
    heard++
    if (heard === 1) return void supervisor.drain(signal, delay)
    log.warn('drain.cut', { signal })
    void supervisor.close(1)
  }
  const meanings = {
    SIGTERM: () => end('SIGTERM', {}),
    SIGINT: () => end('SIGINT', { delayMs: 0 }),
    SIGHUP: reload,
  } as const
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, meanings[signal])
  return () => {
    for (const signal of signals) process.off(signal, meanings[signal])
  }
}
