import type { CompileEnv, StateStore } from '@sluice/core'
import { memberOf } from '../../engines/json/strict-json.js'
import { digestOf } from '../call-sharing.js'
import type { Session } from './session.js'

/** Which sessions were ended before their time. */
export interface EndedSessions {
  /** Of this `sid`, of this `sub`, or of the gateway's own id. @param forMs how long it is remembered. */
  end(kind: EndedKind, value: string, forMs: number): Promise<void>
  /** Rejects with StateUnavailable. */
  isEnded(session: Session): Promise<boolean>
}

/** What sessions are ended by: the session of the provider, its user, or one session of the gateway. */
export type EndedKind = 'sid' | 'sub' | 'own'

/** The sessions of a client of a provider, for all workers, and for all gateways with one `state`. */
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
      // A user who has logged in again since has another session.
      return times.some((endedAt) => endedAt >= startedAt)
    },
  }
}

/** -1: there is none. */
async function timeIn(store: StateStore, name: string): Promise<number> {
  const bytes = await store.get(name)
  return bytes === null ? -1 : Number(Buffer.from(bytes).toString())
}
