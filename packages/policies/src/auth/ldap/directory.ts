import type { Entry } from 'ldapts'
import { nameKey, parseDistinguishedName } from '../../identity/consumers/distinguished-name.js'
import { InvalidEntry, type LdapConnection, ResultCode, type Search, UnusableResponse } from './connection.js'
import { type ConnectionPool, DirectoryDown } from './connection-pool.js'
import type { Template } from './name-template.js'

/** A user who has logged in. */
export interface DirectoryUser {
  readonly id: string
  readonly name: string
  readonly groups: readonly string[]
  readonly claims: ReadonlyMap<string, string>
}

/** Settings of the group search. */
export interface GroupSearch {
  readonly base: string
  readonly scope: Search['scope']
  readonly filter: Template
  readonly attribute: string
  /** True if groups that contain these groups are included. */
  readonly isNested: boolean
}

/** Options for a `Directory`. */
export interface DirectoryOptions {
  /** Account used for searches, or null to search as the user. */
  readonly service: { readonly dn: string; readonly password: string } | null
  /** Template of the bind name, or null to bind as the entry found by the search. */
  readonly userName: Template | null
  /** Search for the user's entry, or null to read the entry that the user is bound as. */
  readonly userSearch: {
    readonly base: string
    readonly scope: Search['scope']
    readonly filter: Template
  } | null
  readonly groups: GroupSearch | null
  readonly attributes: {
    readonly id: string
    readonly name: string | null
    /** Attribute whose values are group names or DNs of groups. */
    readonly groups: string | null
    readonly claims: readonly string[]
  }
}

/** Result codes of a bind that mean a refused login (RFC 4511, appendix A). */
const REFUSED: ReadonlySet<number> = new Set([
  19, // constraintViolation: locked account, in some directories
  32, // noSuchObject
  34, // invalidDNSyntax
  48, // inappropriateAuthentication: entry without a password
  49, // invalidCredentials
  50, // insufficientAccessRights
  53, // unwillingToPerform: locked account, in other directories
])
/** Limits: groups of a user, levels of nested groups, and names per search filter. */
const MAX_GROUPS = 1000
const MAX_ROUNDS = 10
const NAMES_PER_FILTER = 50
/** Maximum length of an attribute value, in characters. */
const MAX_VALUE = 2048
const MAX_ID = 256
const ANY_ENTRY = '(objectClass=*)'

/** Authenticates users against a directory. */
export class Directory {
  readonly #pool: ConnectionPool
  readonly #options: DirectoryOptions

  constructor(pool: ConnectionPool, options: DirectoryOptions) {
    this.#pool = pool
    this.#options = options
  }

  /**
   * Returns the user with this name and password, or null if the login is wrong.
   * @throws InvalidEntry if the entry does not identify the user; DirectoryDown or DirectoryBusy if there is no
   * response.
   */
  async login(username: string, password: string): Promise<DirectoryUser | null> {
    try {
      return await this.#pool.use((connection) => this.#loginOn(connection, username, password))
    } catch (error) {
      if (error instanceof UnusableResponse && !(error instanceof InvalidEntry))
        throw new DirectoryDown(error.message, { cause: error })
      throw error
    }
  }

  async #loginOn(
    connection: LdapConnection,
    username: string,
    password: string,
  ): Promise<DirectoryUser | null> {
    const { userName, userSearch, service } = this.#options
    if (userName === null) {
      await this.#bindService(connection)
      const found = await this.#find(connection, userSearch!, username)
      if (found === null || !(await isBound(connection, found.dn, password))) return null
      if (service !== null && this.#options.groups !== null) await this.#bindService(connection)
      return this.#userOf(connection, found, username)
    }
    const name = userName({ username })
    if (name === null || !(await isBound(connection, name, password))) return null
    if (service !== null) await this.#bindService(connection)
    const found =
      userSearch === null
        ? await this.#entryAt(connection, name)
        : await this.#find(connection, userSearch, username)
    // The password is correct, but the entry is not readable. Guessing the user's id could give them another
    // user's identity.
    if (found === null) throw new InvalidEntry('cannot read the entry of the authenticated user')
    return this.#userOf(connection, found, username)
  }

  async #bindService(connection: LdapConnection): Promise<void> {
    const { service } = this.#options
    if (service === null) await connection.bindAnonymously()
    else if (connection.boundAs !== service.dn) await connection.bind(service.dn, service.password)
  }

  async #find(
    connection: LdapConnection,
    { base, scope, filter }: NonNullable<DirectoryOptions['userSearch']>,
    username: string,
  ): Promise<Entry | null> {
    const text = filter({ username })!
    const entries = await connection.search({ base, scope, filter: text, attributes: this.#wanted(), max: 1 })
    return entries[0] ?? null
  }

  async #entryAt(connection: LdapConnection, dn: string): Promise<Entry | null> {
    const search = { base: dn, scope: 'base', filter: ANY_ENTRY, attributes: this.#wanted(), max: 1 } as const
    return (await connection.search(search))[0] ?? null
  }

  #wanted(): readonly string[] {
    const { id, name, groups, claims } = this.#options.attributes
    return [
      ...new Set([id, ...(name === null ? [] : [name]), ...(groups === null ? [] : [groups]), ...claims]),
    ]
  }

  async #userOf(connection: LdapConnection, entry: Entry, username: string): Promise<DirectoryUser> {
    const { attributes, groups } = this.#options
    const ids = valuesOf(entry, attributes.id)
    // Uses the directory's spelling of the id, so that Alice and ALICE are the same consumer.
    if (ids.length !== 1 || ids[0]!.length > MAX_ID)
      throw new InvalidEntry(
        `an entry has ${ids.length === 1 ? 'an overlong value' : `${ids.length} values`} of ${attributes.id}`,
      )
    const id = ids[0]!.normalize('NFC')
    const found = new Set<string>()
    if (attributes.groups !== null)
      for (const value of valuesOf(entry, attributes.groups)) found.add(groupName(value))
    if (groups !== null)
      for (const name of await this.#groupsOf(connection, groups, entry.dn, username)) found.add(name)
    const claims = attributes.claims.flatMap((name): [string, string][] => {
      const values = valuesOf(entry, name)
      return values.length === 0 ? [] : [[name, values.join(',').slice(0, MAX_VALUE)]]
    })
    const name = attributes.name === null ? id : (valuesOf(entry, attributes.name)[0] ?? id)
    return { id, name: name.slice(0, MAX_ID), groups: [...found], claims: new Map(claims) }
  }

  /**
   * Returns the groups of the user and, level by level up to MAX_ROUNDS, the groups that contain them. Each
   * group is looked up once, even if groups contain each other.
   */
  async #groupsOf(
    connection: LdapConnection,
    { base, scope, filter, attribute, isNested }: GroupSearch,
    dn: string,
    username: string,
  ): Promise<readonly string[]> {
    const names: string[] = []
    const seen = new Set<string>()
    let round: readonly string[] = [dn]
    for (let rounds = 0; round.length > 0 && rounds < MAX_ROUNDS; rounds++) {
      const next: string[] = []
      for (let i = 0; i < round.length; i += NAMES_PER_FILTER) {
        const some = round.slice(i, i + NAMES_PER_FILTER).map((member) => filter({ dn: member, username })!)
        const text = some.length === 1 ? some[0]! : `(|${some.join('')})`
        const entries = await connection.search({
          base,
          scope,
          filter: text,
          attributes: [attribute],
          max: MAX_GROUPS,
        })
        for (const entry of entries) {
          const key = nameKey(entry.dn.toLowerCase()) ?? entry.dn
          if (seen.has(key)) continue
          seen.add(key)
          if (seen.size > MAX_GROUPS) throw new InvalidEntry(`a user is in more than ${MAX_GROUPS} groups`)
          next.push(entry.dn)
          names.push(...valuesOf(entry, attribute).slice(0, 1))
        }
      }
      round = isNested ? next : []
    }
    return names
  }
}

/**
 * Returns true if the directory accepts the password. @throws ResultCode if the response has another meaning.
 */
async function isBound(connection: LdapConnection, name: string, password: string): Promise<boolean> {
  try {
    await connection.bind(name, password)
    return true
  } catch (error) {
    if (error instanceof ResultCode && REFUSED.has(error.code)) return false
    throw error
  }
}

/** Returns the text values of an attribute, whose name is case-insensitive. */
function valuesOf(entry: Entry, name: string): readonly string[] {
  const wanted = name.toLowerCase()
  for (const [type, value] of Object.entries(entry)) {
    if (type.toLowerCase() !== wanted || type === 'dn') continue
    return [value]
      .flat()
      .filter((text): text is string => typeof text === 'string' && text !== '' && text.length <= MAX_VALUE)
  }
  return []
}

/**
 * Returns the first value of a DN such as `cn=admins,ou=groups,dc=example`, or the text itself if it is not a
 * DN.
 */
function groupName(text: string): string {
  const name = parseDistinguishedName(text)
  return name?.[0]?.[0]?.value ?? text
}
