import { randomUUID } from 'node:crypto'
import { chunkDigest, type Manifest } from '@sluice/control-client'
import { Client, type ClientConfig, Pool } from 'pg'
import {
  type ControlStore,
  MEMBER_MEMORY_MS,
  type MemberReport,
  type Reports,
  type StoreChange,
} from './control-store.js'
import type { LogEntry, NumberedEntry } from './log-entry.js'

/** Limits for a database that does not answer, in milliseconds. */
const CONNECT_MS = 5000
const QUERY_MS = 10_000
const CHANNEL = 'sluice_control'
/** Interval for looking for changes without a notification, in milliseconds. */
const POLL_MS = 1000
/** Key of the lock under which one controller creates the tables. */
const SCHEMA_LOCK = 5_137_220_471

const SCHEMA = `
create table if not exists sluice_store (one boolean primary key default true check (one), id uuid not null, version integer not null);
create table if not exists sluice_log (seq bigint primary key, entry jsonb not null);
create table if not exists sluice_manifests (digest text primary key, manifest jsonb not null, used_at timestamptz not null default now());
create table if not exists sluice_chunks (digest text primary key, bytes bytea not null, used_at timestamptz not null default now());
create table if not exists sluice_controllers (id text primary key, seen_at timestamptz not null);
create table if not exists sluice_members (group_name text, member text, report jsonb not null, seen_at timestamptz not null, primary key (group_name, member));
`

/** Appends only after the given entry. Of two appends at once, the second one meets the first one's primary key. */
const APPEND = `
with added as (
  insert into sluice_log (seq, entry)
  select $1::bigint + 1, $2::jsonb where coalesce((select max(seq) from sluice_log), 0) = $1::bigint
  on conflict do nothing returning seq
)
select seq, pg_notify('${CHANNEL}', 'entries') from added`

const REPORT = `
insert into sluice_members (group_name, member, report, seen_at)
select value->>'group', value->>'member', value, now() from jsonb_array_elements($1::jsonb)
on conflict (group_name, member) do update set report = excluded.report, seen_at = excluded.seen_at`

/** Store in PostgreSQL, for several controllers. */
export class PostgresStore implements ControlStore {
  readonly id: string
  readonly #pool: Pool
  readonly #config: ClientConfig
  readonly #listeners = new Set<(change: StoreChange) => void>()
  readonly #timer: NodeJS.Timeout
  #listening: Client | null = null
  #isClosed = false

  private constructor(id: string, pool: Pool, config: ClientConfig) {
    this.id = id
    this.#pool = pool
    this.#config = config
    this.#timer = setInterval(() => this.#poll(), POLL_MS).unref()
  }

  /** Connects to the database and creates its tables. @throws Error if that fails */
  static async open(url: string): Promise<PostgresStore> {
    const config = {
      connectionString: url,
      application_name: 'sluice-control',
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: QUERY_MS,
      statement_timeout: QUERY_MS,
      keepAlive: true,
    }
    const pool = new Pool({ ...config, max: 8 })
    // A lost idle connection. The next query opens a new one or reports the problem.
    pool.on('error', () => {})
    try {
      const store = new PostgresStore(await createTables(pool), pool, config)
      await store.#listen()
      return store
    } catch (error) {
      await pool.end()
      throw error
    }
  }

  async append(entry: LogEntry, afterSeq: number): Promise<number | null> {
    const { rows } = await this.#pool.query<{ seq: string }>(APPEND, [afterSeq, JSON.stringify(entry)])
    return rows.length === 0 ? null : Number(rows[0]!.seq)
  }

  async entriesAfter(seq: number, limit: number): Promise<NumberedEntry[]> {
    const { rows } = await this.#pool.query<{ seq: string; entry: LogEntry }>(
      'select seq, entry from sluice_log where seq > $1 order by seq limit $2',
      [seq, limit],
    )
    return rows.map((row) => ({ ...row.entry, seq: Number(row.seq) }))
  }

  async missingChunks(digests: readonly string[]): Promise<string[]> {
    const { rows } = await this.#pool.query<{ digest: string }>(
      'update sluice_chunks set used_at = now() where digest = any($1) returning digest',
      [digests],
    )
    const present = new Set(rows.map(({ digest }) => digest))
    return digests.filter((digest) => !present.has(digest))
  }

  async putChunks(chunks: ReadonlyMap<string, Buffer>): Promise<void> {
    await this.#pool.query(
      `insert into sluice_chunks (digest, bytes) select * from unnest($1::text[], $2::bytea[])
       on conflict (digest) do update set bytes = excluded.bytes, used_at = now()`,
      [[...chunks.keys()], [...chunks.values()]],
    )
  }

  async getChunk(digest: string): Promise<Buffer | null> {
    const sql = 'select bytes from sluice_chunks where digest = $1'
    const { rows } = await this.#pool.query<{ bytes: Buffer }>(sql, [digest])
    const bytes = rows[0]?.bytes
    return bytes !== undefined && chunkDigest(bytes) === digest ? bytes : null
  }

  async putManifest(digest: string, manifest: Manifest): Promise<void> {
    await this.#pool.query(
      `insert into sluice_manifests (digest, manifest) values ($1, $2)
       on conflict (digest) do update set used_at = now()`,
      [digest, JSON.stringify(manifest)],
    )
  }

  async getManifest(digest: string): Promise<Manifest | null> {
    const sql = 'select manifest from sluice_manifests where digest = $1'
    const { rows } = await this.#pool.query<{ manifest: Manifest }>(sql, [digest])
    return rows[0]?.manifest ?? null
  }

  async collectGarbage(kept: ReadonlySet<string>, minAgeMs: number): Promise<number> {
    await this.#forgetMembers()
    await this.#pool.query(
      `delete from sluice_manifests where digest <> all($1) and used_at < now() - $2 * interval '1 ms'`,
      [[...kept], minAgeMs],
    )
    const { rowCount } = await this.#pool.query(
      `delete from sluice_chunks where used_at < now() - $1 * interval '1 ms' and digest not in (
         select jsonb_array_elements_text(file->'chunks')
         from sluice_manifests, jsonb_array_elements(manifest->'files') file)`,
      [minAgeMs],
    )
    return rowCount ?? 0
  }

  async report(controller: string, members: readonly MemberReport[]): Promise<void> {
    await this.#pool.query(
      `insert into sluice_controllers values ($1, now()) on conflict (id) do update set seen_at = excluded.seen_at`,
      [controller],
    )
    if (members.length === 0) return
    await this.#pool.query(REPORT, [JSON.stringify(members)])
    await this.#pool.query(`select pg_notify('${CHANNEL}', 'reports')`)
  }

  async reports(): Promise<Reports> {
    const age = 'greatest(0, extract(epoch from now() - seen_at) * 1000)::float8 as "ageMs"'
    const [controllers, members] = await Promise.all([
      this.#pool.query<{ id: string; ageMs: number }>(`select id, ${age} from sluice_controllers`),
      this.#pool.query<{ report: MemberReport; ageMs: number }>(`select report, ${age} from sluice_members`),
    ])
    return {
      controllers: new Map(controllers.rows.map(({ id, ageMs }) => [id, ageMs])),
      members: members.rows.map(({ report, ageMs }) => ({ ...report, ageMs })),
    }
  }

  async forgetMember(group: string, member: string): Promise<void> {
    await this.#pool.query('delete from sluice_members where group_name = $1 and member = $2', [
      group,
      member,
    ])
    await this.#pool.query(`select pg_notify('${CHANNEL}', 'reports')`)
  }

  async #forgetMembers(): Promise<void> {
    for (const table of ['sluice_members', 'sluice_controllers'])
      await this.#pool.query(`delete from ${table} where seen_at < now() - $1 * interval '1 ms'`, [
        MEMBER_MEMORY_MS,
      ])
  }

  watch(listener: (change: StoreChange) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    this.#listeners.clear()
    await this.#listening?.end().catch(() => {})
    await this.#pool.end()
  }

  /** Receives notifications on a connection of its own. The next poll opens it again if it is lost. */
  async #listen(): Promise<void> {
    const client = new Client(this.#config)
    this.#listening = client
    const lost = (): void => {
      if (this.#listening === client) this.#listening = null
    }
    client.on('error', lost)
    client.on('end', lost)
    client.on('notification', ({ payload }) => this.#notify(payload === 'entries' ? 'entries' : 'reports'))
    try {
      await client.connect()
      await client.query(`listen ${CHANNEL}`)
    } catch (error) {
      lost()
      await client.end().catch(() => {})
      throw error
    }
  }

  #poll(): void {
    if (this.#listening === null && !this.#isClosed) void this.#listen().catch(() => {})
    this.#notify('entries')
    this.#notify('reports')
  }

  #notify(change: StoreChange): void {
    for (const listener of this.#listeners) listener(change)
  }
}

/** Creates the tables and returns the id of the store. */
async function createTables(pool: Pool): Promise<string> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query('select pg_advisory_xact_lock($1)', [SCHEMA_LOCK])
    await client.query(SCHEMA)
    await client.query('insert into sluice_store (id, version) values ($1, 1) on conflict do nothing', [
      randomUUID(),
    ])
    const { rows } = await client.query<{ id: string }>('select id from sluice_store')
    await client.query('commit')
    return rows[0]!.id
  } finally {
    client.release(true)
  }
}
