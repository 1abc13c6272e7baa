import type { StoredLimit } from '@sluice/core'

/** Message from the parent: a received signal, or the counts of the previous supervisor. */
export type ToSupervisor =
  | { readonly signal: 'SIGTERM' | 'SIGINT' | 'SIGHUP' }
  | { readonly limits: readonly StoredLimit[] }

/** Message from a supervisor: it serves, it is about to exit, its list of workers, or changed counts. */
export type FromSupervisor =
  | { readonly state: 'serving' | 'ending' }
  | { readonly state: 'workers'; readonly pids: readonly number[]; readonly drainMs: number }
  | { readonly state: 'limits'; readonly limits: readonly (StoredLimit | readonly [key: string])[] }

/** Environment of a supervisor: the process id of the parent that restarts it. */
export const PARENT_ENV = 'GW_PARENT'

/** Returns true if this process was started by a parent that restarts it. */
export function hasParent(): boolean {
  return process.connected === true && process.env[PARENT_ENV] === String(process.ppid)
}

/** Notifies the parent, if there is one. */
export function notifyParent(message: FromSupervisor): void {
  if (hasParent()) process.send!(message, () => {})
}

/** Keeps this process running when the parent is gone. @param onAbandoned called then. */
export function outliveParent(onAbandoned: () => void): void {
  if (!hasParent()) return
  process.once('disconnect', onAbandoned)
  // The IPC channel alone must not keep the process running.
  process.channel?.unref()
}
