import { isCacheToken, isIssue, isLoopback, longestCachedValue, parseAddress } from '@sluice/config'
import { parseDuration, parseSize, visibleText } from '@sluice/core'
import {
  type CacheServer,
  type CacheSettings,
  isSpaceName,
  type SpaceSettings,
  startCacheServer,
  type Tier,
  thisMachine,
  workerCount,
} from '@sluice/gateway/cache-server'
import { secretInFile } from '../input/secret.js'
import { untilSignal } from '../input/until-signal.js'
import { EXIT, Failure, messageOf, reasonOf, usageError } from '../output/failure.js'
import { complain, outliveReader, print } from '../output/output.js'
import { countText } from '../output/text.js'
import { type PersistOptions, readPersist } from './cache-persist.js'

interface CacheServerOptions extends PersistOptions {
  readonly listen: string
  readonly tokenFile?: string
  readonly tier?: Tier
  readonly workers?: number
  readonly maxBytes: string
  readonly maxObjectBytes: string
  readonly ttl: string
  readonly space?: readonly string[]
  readonly connections: number
  readonly tlsCert?: string
  readonly tlsKey?: string
}

/** Minimum memory, with which values of 1 MB fit. */
const LEAST_BYTES = 8 * 1024 ** 2
/** Maximum memory: 64 shards with 31-bit offsets. */
const MOST_BYTES = 64 * 1024 ** 3
const MAX_SPACES = 64

/** Runs a cache server until it is stopped. Resolves with the exit code. */
export async function runCacheServer(options: CacheServerOptions): Promise<number> {
  const settings = readSettings(options)
  const { signal } = untilSignal()
  outliveReader()
  const server = await startCacheServer(settings, tellOperator).catch((error: unknown) => {
    throw new Failure(`cannot serve on ${options.listen}: ${reasonOf(error)}`)
  })
  const scheme = settings.tls === null ? 'http' : 'https'
  const host = settings.host.includes(':') ? `[${settings.host}]` : settings.host
  print(`listening on ${scheme}://${host}:${server.port} (${countText(settings.workers, 'worker')})`)
  return untilEnded(server, signal)
}

function tellOperator(event: string, { problem, values }: Readonly<Record<string, unknown>>): void {
  if (event === 'persist_lost') complain(`Valkey persistence is off: ${visibleText(String(problem))}`)
  else if (event === 'persist_ready')
    complain(`Valkey persistence is on${values === 'found' ? '; existing values are used' : ''}`)
}

async function untilEnded(server: CacheServer, signal: AbortSignal): Promise<number> {
  if (signal.aborted) server.stop()
  else signal.addEventListener('abort', () => server.stop())
  const fault = await server.ended
  if (fault === null) return EXIT.ok
  complain(`the cache server exits because its memory may be inconsistent: ${fault}`)
  // The remaining threads would keep the process alive, and their state cannot be trusted.
  process.kill(process.pid, 'SIGKILL')
  return EXIT.failed
}

function readSettings(options: CacheServerOptions): CacheSettings {
  const address = parseAddress(options.listen)
  if (isIssue(address)) throw usageError(`--listen: ${address.message}; ${address.remedy}`)
  const { host, port } = address
  const maxBytes = readMemory('--max-bytes', options.maxBytes)
  const maxObjectBytes = read('--max-object-bytes', options.maxObjectBytes, parseSize)
  const spaces = (options.space ?? []).map((text) => readSpace(text))
  if (spaces.length > MAX_SPACES) throw usageError(`--space: at most ${MAX_SPACES} spaces can have settings`)
  for (const memory of [maxBytes, ...spaces.map((space) => space.maxBytes ?? maxBytes)])
    checkRoom(maxObjectBytes, memory)
  return {
    host,
    port,
    tls: readTls(options),
    token: readToken(options, host),
    workers: workerCount(
      { workers: options.workers ?? null, tier: options.tier ?? null, planned: null },
      thisMachine(),
    ),
    maxBytes,
    maxObjectBytes,
    ttlMs: readTtl('--ttl', options.ttl),
    spaces,
    connections: options.connections,
    persist: readPersist(options),
  }
}

function readToken({ tokenFile }: CacheServerOptions, host: string): string | null {
  if (tokenFile === undefined) {
    if (isLoopback(host)) return null
    throw usageError(
      `the cache on ${host} can be reached from other machines; add --token-file, or listen on loopback`,
    )
  }
  const token = secretInFile(tokenFile, 'token file')
  if (isCacheToken(token)) return token
  throw new Failure(`the token in ${tokenFile} must be 16 to 4096 visible ASCII characters`)
}

function readTls({ tlsCert, tlsKey }: CacheServerOptions): CacheSettings['tls'] {
  if (tlsCert === undefined && tlsKey === undefined) return null
  if (tlsCert === undefined || tlsKey === undefined)
    throw usageError('--tls-cert and --tls-key must be used together')
  return { certFile: tlsCert, keyFile: tlsKey }
}

/** Parses `sessions=ttl:30m,max:256mb`. */
function readSpace(text: string): SpaceSettings {
  const [name = '', list = ''] = text.split('=', 2)
  if (!isSpaceName(name))
    throw usageError(`--space: '${name}' is not a valid name; use letters, digits, '.', '_' and '-'`)
  const values = new Map(
    list.split(',').map((pair) => [pair.split(':', 1)[0]!, pair.slice(pair.indexOf(':') + 1)]),
  )
  const unknown = [...values.keys()].find((key) => key !== 'ttl' && key !== 'max')
  if (unknown !== undefined)
    throw usageError(`--space ${name}: use ttl:DURATION, max:SIZE or both, not '${unknown}'`)
  const max = values.get('max')
  return {
    name,
    ttlMs: readTtl(`--space ${name}`, values.get('ttl') ?? '1h'),
    maxBytes: max === undefined ? null : readMemory(`--space ${name}`, max),
  }
}

function readTtl(option: string, text: string): number | null {
  if (text === 'none') return null
  const ms = read(option, text, parseDuration)
  if (ms < 1 || ms > 365 * 86_400_000) throw usageError(`${option}: use a ttl from 1ms to 365d, or none`)
  return ms
}

function readMemory(option: string, text: string): number {
  const bytes = read(option, text, parseSize)
  if (bytes >= LEAST_BYTES && bytes <= MOST_BYTES) return bytes
  throw usageError(`${option}: '${text}' is not from 8mb to 64gb`)
}

function checkRoom(maxObjectBytes: number, memory: number): void {
  const longest = longestCachedValue(memory)
  if (maxObjectBytes >= 1 && maxObjectBytes <= longest) return
  throw usageError(`--max-object-bytes: use 1 to ${longest} bytes, one eighth of the memory for a value`)
}

function read<T>(option: string, text: string, parse: (text: string) => T): T {
  try {
    return parse(text)
  } catch (error) {
    throw usageError(`${option}: ${messageOf(error)}`)
  }
}
