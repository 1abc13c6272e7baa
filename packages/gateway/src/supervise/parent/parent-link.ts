import type { SendHandle } from 'node:child_process'
import type { StoredEntry, StoredLimit } from '@sluice/core'
import { REPLACES_ENV } from '../../worker/messages.js'

/** Result of an upgrade: the supervisor of the next version, or the reason why the running one continues. */
export type UpgradeResult =
  | { readonly ok: true; readonly pid: number; readonly version: string; readonly durationMs: number }
  | { readonly ok: false; readonly reason: string }

/**
 * Message from a supervisor to the one that replaces it. The parent passes it on.
 * * `entries`: shared memory.
 * * `socket`: address of a listening socket, which is the message's handle.
 * * `phase`: the next version has everything that it needs to start, or the names of the ports are free.
 */
export type Handover =
  | { readonly entries: readonly StoredEntry[] }
  | { readonly socket: string }
  | { readonly phase: 'handed-over' | 'released' }

/**
 * Message from the parent: a received signal, the counts of the previous supervisor, or the result of an upgrade. It may
 * also be the order to leave because another version serves, or a message of the supervisor being replaced.
 */
export type ToSupervisor =
  | { readonly signal: 'SIGTERM' | 'SIGINT' | 'SIGHUP' | 'SIGUSR2' }
  | { readonly limits: readonly StoredLimit[] }
  | { readonly upgrade: UpgradeResult }
  | { readonly phase: 'replaced' }
  | Handover

/**
 * Message from a supervisor: its state, the wish for an upgrade, its list of workers, changed counts, or a message for
 * the supervisor that replaces it.
 */
export type FromSupervisor =
  | { readonly state: 'serving'; readonly version: string }
  | { readonly state: 'failed'; readonly reason: string }
  | { readonly state: 'ending' | 'upgrade' }
  | { readonly state: 'workers'; readonly pids: readonly number[]; readonly drainMs: number }
  | { readonly state: 'limits'; readonly limits: readonly (StoredLimit | readonly [key: string])[] }
  | { readonly state: 'handover'; readonly message: Handover }

/** Environment of a supervisor: the process id of the parent that restarts it. */
export const PARENT_ENV = 'GW_PARENT'

/** Returns true if this process was started by a parent that restarts it. */
export function hasParent(): boolean {
  return process.connected === true && process.env[PARENT_ENV] === String(process.ppid)
}

/** Returns the process id of the supervisor that this one is to replace, or null if there is none. */
export function replacedPid(): number | null {
  return hasParent() ? Number(process.env[REPLACES_ENV] ?? 0) || null : null
}

/** Notifies the parent, if there is one. Resolves when the message is written. */
export function notifyParent(message: FromSupervisor, handle?: SendHandle): Promise<void> {
  return new Promise((resolve) => {
    if (hasParent()) process.send!(message, handle, {}, () => resolve())
    else resolve()
  })
}

/** Calls a function with each message of the parent. Returns a function that stops this. */
export function onParentMessage(receive: (message: ToSupervisor, handle: unknown) => void): () => void {
  if (!hasParent()) return () => {}
  process.on('message', receive as NodeJS.MessageListener)
  return () => void process.off('message', receive as NodeJS.MessageListener)
}

/** Keeps this process running when the parent is gone. @param onAbandoned called then. */
export function outliveParent(onAbandoned: () => void): void {
  if (!hasParent()) return
  process.once('disconnect', onAbandoned)
  // The IPC channel alone must not keep the process running.
  process.channel?.unref()
}
