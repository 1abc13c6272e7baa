import { createHash, randomBytes } from 'node:crypto'
import type { PeerCertificate } from 'node:tls'
import type { TeamScope } from '@sluice/config'
import { Lockout, Sessions } from '@sluice/core'
import type { ControlState } from '../state/control-state.js'
import type { Grant, Role } from '../store/log-entry.js'
import { ControlProblem } from './problem.js'

/** An authenticated caller. */
export interface Caller {
  /** Id of the token, or null for a certificate or person. */
  readonly token: string | null
  /** Name of the token, certificate or person. */
  readonly actor: string
  readonly address: string
  readonly role: Role
  /** Globs of groups. */
  readonly groups: readonly string[]
  /** Team whose part the caller may change. Absent or null: all parts. */
  readonly scope?: TeamScope | null
}

/** A person who has logged in with OpenID Connect. */
export interface Person {
  readonly actor: string
  readonly grants: readonly Grant[]
}

/** The parts of a request that authenticate it. */
export interface Credentials {
  readonly address: string
  /** Authorization header; empty if absent. */
  readonly authorization: string
  /** Id of a browser session; empty if absent. A token takes precedence. */
  readonly sessionId?: string
  /** Role that the request needs. A person gets the groups for which they have it. Default: `viewer`. */
  readonly required?: Role
}

/** Lifetime of a browser session in milliseconds. */
export const SESSION_MS = 8 * 3_600_000

/** Rank by role. A role includes the permissions of those below it. Members have none of them. */
const RANK: Readonly<Record<Role, number>> = { member: 0, viewer: 1, deployer: 2, admin: 3 }
const CHALLENGE = { 'www-authenticate': 'Bearer realm="sluice-control"' }
const ALL_GROUPS = '*'

/** Creates a token. Only its digest is stored. */
export function newToken(): { readonly text: string; readonly sha256: string } {
  const text = `sluice_${randomBytes(32).toString('base64url')}`
  return { text, sha256: digestOf(text) }
}

/** Authenticates callers by their tokens or browser sessions. */
export class Authenticator {
  readonly #state: () => ControlState
  readonly #lockout = new Lockout()
  /** Owners of sessions: people, or digests of tokens. A session ends when its token is revoked. */
  readonly #sessions: Sessions<Person | string>
  /** Tokens of a state by digest. A lookup by digest reveals nothing by its duration. */
  #known: {
    readonly state: ControlState
    readonly callers: ReadonlyMap<string, Omit<Caller, 'address'>>
  } | null = null

  /** @param state returns the state with the valid tokens */
  constructor(state: () => ControlState, sessions = new Sessions<Person | string>(SESSION_MS)) {
    this.#state = state
    this.#sessions = sessions
  }

  /** Returns the caller. @throws ControlProblem if the token is missing or invalid */
  authenticate({ address, authorization, sessionId = '', required = 'viewer' }: Credentials): Caller {
    const session = authorization === '' && sessionId !== '' ? this.#sessions.get(sessionId) : null
    const owner = typeof session === 'string' ? this.#callers().get(session) : personCaller(session, required)
    if (owner !== undefined) return { ...owner, address }
    const presented = /^bearer +([\x21-\x7e]+) *$/i.exec(authorization)?.[1]
    if (presented === undefined)
      throw new ControlProblem('GW_CONTROL_AUTH_MISSING', 'send a token as `Authorization: Bearer TOKEN`', {
        headers: CHALLENGE,
      })
    const caller = this.#callers().get(digestOf(presented))
    if (caller !== undefined) return { ...caller, address }
    // A valid token is always accepted: others behind the same address may be the ones guessing.
    const secondsLeft = this.#lockout.secondsLeft(address)
    if (secondsLeft > 0)
      throw new ControlProblem(
        'GW_CONTROL_LOCKED_OUT',
        `too many wrong tokens from this address; try again in ${secondsLeft} s`,
        { headers: { 'retry-after': String(secondsLeft) } },
      )
    this.#lockout.wrong(address)
    throw new ControlProblem('GW_CONTROL_AUTH_INVALID', 'the token is unknown or revoked', {
      headers: CHALLENGE,
    })
  }

  /** Opens a browser session for a valid token. Returns its id. */
  logIn(token: string, { actor }: Caller): string {
    return this.#sessions.open(actor, digestOf(token))
  }

  /** Opens a browser session for a person. Returns its id. */
  logInPerson(person: Person): string {
    return this.#sessions.open(person.actor, person)
  }

  /** Ends a browser session. Returns true if it was that of a person. */
  logOut(sessionId: string): boolean {
    const owner = this.#sessions.get(sessionId)
    this.#sessions.close(sessionId)
    return owner !== null && typeof owner !== 'string'
  }

  #callers(): ReadonlyMap<string, Omit<Caller, 'address'>> {
    const state = this.#state()
    if (this.#known?.state.tokens !== state.tokens) {
      const valid = [...state.tokens.values()].filter(({ isRevoked }) => !isRevoked)
      const callers = new Map(
        valid.map(({ token, sha256, name: actor, role, groups, scope }) => [
          sha256,
          { token, actor, role, groups, scope },
        ]),
      )
      this.#known = { state, callers }
    }
    return this.#known.callers
  }
}

/**
 * Returns a person as caller of a request: with the required role and the groups for which they have it. Without it,
 * with their highest role.
 */
function personCaller(person: Person | null, required: Role): Omit<Caller, 'address'> | undefined {
  if (person === null) return undefined
  const { actor, grants } = person
  const fitting = grants.filter(({ role }) => RANK[role] >= RANK[required])
  if (fitting.length > 0)
    return { token: null, actor, role: required, groups: fitting.flatMap(({ groups }) => groups) }
  const [highest] = grants.toSorted((a, b) => RANK[b.role] - RANK[a.role])
  return { token: null, actor, ...highest! }
}

/**
 * Returns the member that a verified client certificate stands for: its organizational units are the globs of its
 * groups. Returns null if it has none.
 */
export function certificateCaller({ subject }: PeerCertificate, address: string): Caller | null {
  const units: unknown = subject?.OU ?? []
  const groups = (Array.isArray(units) ? units : [units]).filter((unit) => typeof unit === 'string')
  if (groups.length === 0) return null
  return { token: null, actor: `certificate ${String(subject.CN)}`, address, role: 'member', groups }
}

/** Checks the role of a caller. @throws ControlProblem if it is not sufficient */
export function requireRole({ actor, role }: Caller, required: Role): void {
  if (required === 'member' ? role === 'member' : RANK[role] >= RANK[required]) return
  throw new ControlProblem(
    'GW_CONTROL_ROLE_MISSING',
    `'${actor}' has the role ${role}, but ${required} is required`,
  )
}

/**
 * Checks that a caller may change a part of a group's source. Null: all of it, or something else.
 * @throws ControlProblem if it is for another part only
 */
export function requirePart({ actor, scope }: Caller, part: string | null): void {
  if (!scope || scope.team === part) return
  throw new ControlProblem(
    'GW_CONTROL_TEAM_REFUSED',
    `'${actor}' may change only the part '${scope.team}'; deploy with gw deploy --team ${scope.team}`,
  )
}

/** Returns true if the caller may see or change the group. */
export function mayUseGroup({ groups }: Pick<Caller, 'groups'>, group: string): boolean {
  return groups.some((glob) => matchesGlob(group, glob))
}

/** Checks the groups of a caller. @throws ControlProblem if the group is not among them */
export function requireGroup(caller: Caller, group: string): void {
  if (mayUseGroup(caller, group)) return
  throw new ControlProblem('GW_CONTROL_GROUP_REFUSED', `'${caller.actor}' has no access to group '${group}'`)
}

/** Checks that the caller is for all groups. @throws ControlProblem otherwise */
export function requireAllGroups(caller: Caller): void {
  if (caller.groups.includes(ALL_GROUPS)) return
  throw new ControlProblem('GW_CONTROL_GROUP_REFUSED', `'${caller.actor}' is not for all groups`)
}

/** Matches a name with a glob, in which `*` stands for any characters. */
function matchesGlob(name: string, glob: string): boolean {
  const [first = '', ...rest] = glob.split('*')
  if (rest.length === 0) return name === glob
  if (!name.startsWith(first)) return false
  const last = rest.pop()!
  let at = first.length
  for (const part of rest) {
    const found = name.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return name.length - last.length >= at && name.endsWith(last)
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
