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
import { EXIT, Failure, messageOf } from '../failure.js'
import { secretInFile } from '../input/secret-file.js'
import { complain, outliveReader, print } from '../output/output.js'
import { countText } from '../output/text.js'
import { type PersistOptions, readPersist } from './cache-persist.js'
import { untilSignal } from './until-signal.js'

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

/** The smallest memory: what is left of it for one value is 1 MB. */
const LEAST_BYTES = 8 * 1024 ** 2
/** 64 shards with offsets of 31 bits. */
const MOST_BYTES = 64 * 1024 ** 3
const MAX_SPACES = 64

/** Runs a cache server until it is asked to stop; resolves with the exit code. */
export async function runCacheServer(options: CacheServerOptions): Promise<number> {
  const settings = readSettings(options)
  const { signal } = untilSignal()
  outliveReader()
  const server = await startCacheServer(settings, tellOperator).catch((error: unknown) => {
    throw new Failure(EXIT.failed, `cannot serve on ${options.listen}: ${messageOf(error)}`)
  })
  const scheme = settings.tls === null ? 'http' : 'https'
  const host = settings.host.includes(':') ? `[${settings.host}]` : settings.host
  print(`listening on ${scheme}://${host}:${server.port} (${countText(settings.workers, 'worker')})`)
  return untilEnded(server, signal)
}

function tellOperator(event: string, { problem, values }: Readonly<Record<string, unknown>>): void {
  if (event === 'persist_lost') complain(`values are not kept in Valkey now: ${visibleText(String(problem))}`)
  else if (event === 'persist_ready')
    complain(`values are kept in Valkey${values === 'found' ? '; those that were there are used' : ''}`)
}

async function untilEnded(server: CacheServer, signal: AbortSignal): Promise<number> {
  if (signal.aborted) server.stop()
  else signal.addEventListener('abort', () => server.stop())
  const fault = await server.ended
  if (fault === null) return EXIT.ok
  complain(`the cache server ends, because its memory may be half written: ${fault}`)
  // What is left of its threads would keep the process, and could not be trusted.
  process.kill(process.pid, 'SIGKILL')
  return EXIT.failed
}

function readSettings(options: CacheServerOptions): CacheSettings {
  const address = parseAddress(options.listen)
  if (isIssue(address)) throw usage(`--listen: ${address.message}; ${address.remedy}`)
  const { host, port } = address
  const maxBytes = readMemory('--max-bytes', options.maxBytes)
  const maxObjectBytes = read('--max-object-bytes', options.maxObjectBytes, parseSize)
  const spaces = (options.space ?? []).map((text) => readSpace(text))
  if (spaces.length > MAX_SPACES)
    throw usage(`--space: at most ${MAX_SPACES} spaces have settings of their own`)
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
    throw usage(`others could read and change the cache on ${host}; add --token-file, or listen on loopback`)
  }
  const token = secretInFile(tokenFile, 'token file')
  if (isCacheToken(token)) return token
  throw new Failure(EXIT.failed, `the token in ${tokenFile} has to be 16 to 4096 visible ASCII characters`)
}

function readTls({ tlsCert, tlsKey }: CacheServerOptions): CacheSettings['tls'] {
  if (tlsCert === undefined && tlsKey === undefined) return null
  if (tlsCert === undefined || tlsKey === undefined) throw usage('--tls-cert and --tls-key go together')
  return { certFile: tlsCert, keyFile: tlsKey }
}

/** `sessions=ttl:30m,max:256mb`. */
function readSpace(text: string): SpaceSettings {
  const [name = '', list = ''] = text.split('=', 2)
  if (!isSpaceName(name))
    throw usage(`--space: '${name}' is not a name; it has letters, digits, '.', '_' and '-'`)
  const values = new Map(
    list.split(',').map((pair) => [pair.split(':', 1)[0]!, pair.slice(pair.indexOf(':') + 1)]),
  )
  const strange = [...values.keys()].find((key) => key !== 'ttl' && key !== 'max')
  if (strange !== undefined)
    throw usage(`--space ${name}: write ttl:DURATION, max:SIZE or both, not '${strange}'`)
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
  if (ms < 1 || ms > 365 * 86_400_000) throw usage(`${option}: a ttl is between 1ms and 365d, or none`)
  return ms
}

function readMemory(option: string, text: string): number {
  const bytes = read(option, text, parseSize)
  if (bytes >= LEAST_BYTES && bytes <= MOST_BYTES) return bytes
  throw usage(`${option}: '${text}' is not between 8mb and 64gb`)
}

function checkRoom(maxObjectBytes: number, memory: number): void {
  const longest = longestCachedValue(memory)
  if (maxObjectBytes >= 1 && maxObjectBytes <= longest) return
  throw usage(`--max-object-bytes: 1 to ${longest} bytes, an eighth of the memory that a value may lie in`)
}

function read<T>(option: string, text: string, parse: (text: string) => T): T {
  try {
    return parse(text)
  } catch (error) {
    throw usage(`${option}: ${messageOf(error)}`)
  }
}

function usage(message: string): Failure {
  return new Failure(EXIT.usage, message)
}
