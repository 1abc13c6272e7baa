import type { CompileEnv, StateStore } from '@sluice/core'
import { digestOf } from '../../shared/call/call-sharing.js'
import { memberOf } from '../../shared/json/strict-json.js'
import type { Session } from './session.js'

/** Registry of sessions that ended early. */
export interface EndedSessions {
  /**
   * Ends the sessions with a `sid`, a `sub` or a gateway session id.
   * @param forMs how long to remember it, in milliseconds.
   */
  end(kind: EndedKind, value: string, forMs: number): Promise<void>
  /** Returns true if a session has ended. Rejects with StateUnavailable. */
  isEnded(session: Session): Promise<boolean>
}

/** Kind of identifier: session of the provider, its user, or one session of the gateway. */
export type EndedKind = 'sid' | 'sub' | 'own'

/** Returns the registry for a client of a provider, shared by all workers and all gateways with the same `state`. */
export function endedSessions(
  issuer: string,
  clientId: string,
  env: Pick<CompileEnv, 'state'>,
): EndedSessions {
  const store = env.state.store('cluster')
  const prefix = `session-ended:${digestOf(issuer, clientId)}:`
  const nameOf = (kind: EndedKind, value: string): string => `${prefix}${kind}:${digestOf(value)}`
  return {
    async end(kind, value, forMs) {
      await store.set(nameOf(kind, value), Buffer.from(String(Date.now())), forMs)
    },
    async isEnded({ id, claims, startedAt }) {
      const [sid, sub] = [memberOf(claims, 'sid'), memberOf(claims, 'sub')]
      const names = [nameOf('own', id), nameOf('sub', String(sub))]
      if (typeof sid === 'string') names.push(nameOf('sid', sid))
      const times = await Promise.all(names.map((name) => timeIn(store, name)))
      // A session that started after a new login is not affected.
      return times.some((endedAt) => endedAt >= startedAt)
    },
  }
}

/** Returns the stored time, or -1. */
async function timeIn(store: StateStore, name: string): Promise<number> {
  const bytes = await store.get(name)
  return bytes === null ? -1 : Number(Buffer.from(bytes).toString())
}
