import { AdminClient } from '../admin/admin-client.js'
import type { AnswerPart } from '../admin/answer-part.js'
import { confirm } from '../input/confirm.js'
import type { OutputOptions, ServerOptions } from '../input/options.js'
import { Failure, usageError } from '../output/failure.js'
import { print, printResult, printTable, say } from '../output/output.js'

interface PurgeOptions extends OutputOptions, ServerOptions {
  readonly key?: string
  readonly prefix?: string
  readonly tag?: string
  readonly all?: boolean
  readonly yes?: boolean
}

const KEY_HINT =
  'keys start with the host and port that clients use: api.example.com/orders?page=2 or 127.0.0.1:8080/orders'

const NO_CACHE = `responses are not cached: no route uses the policy response-cache
add it to a route and deploy the document; gw policy doc response-cache shows an example`

/** Returns the cache key of a URL. */
function keyIn(text: string): string {
  return text.replace(/^https?:\/\//, '')
}

/** Prints the size and counters of the response cache, summed over all workers. */
export async function cacheStats(options: OutputOptions & ServerOptions): Promise<void> {
  const client = new AdminClient(options)
  const { part } = await client.get('/v1/cache')
  const hasCache = (await client.get('/v1/routes')).part.parts('routes').some(usesCache)
  await printResult(part.value, options.output, () => {
    if (!hasCache) return print(NO_CACHE)
    const { requests, ...sums } = part.value as { readonly requests: Readonly<Record<string, number>> }
    const counts = [...Object.entries(sums), ...Object.entries(requests)]
    printTable(
      ['COUNTER', 'VALUE'],
      counts.map(([name, count]) => [name, String(count)]),
    )
  })
}

function usesCache(route: AnswerPart): boolean {
  return route.parts('policies').some((policy) => policy.text('use') === 'response-cache')
}

/** Prints the responses stored under a key. */
export async function cacheGet(options: OutputOptions & ServerOptions, key: string): Promise<void> {
  const { part } = await new AdminClient(options).get(
    `/v1/cache/stored?key=${encodeURIComponent(keyIn(key))}`,
  )
  const stored = part.parts('stored')
  if (stored.length === 0) throw new Failure(`nothing is stored under '${keyIn(key)}'; ${KEY_HINT}`)
  const rows = stored.map(({ value }) => {
    const one = value as Readonly<Record<string, number | string | readonly string[]>>
    return ['status', 'bytes', 'ageSeconds', 'ttlSeconds', 'vary', 'tags'].map((name) => String(one[name]))
  })
  const headings = ['STATUS', 'BYTES', 'AGE', 'TTL', 'VARY', 'TAGS']
  await printResult(part.value, options.output, () => printTable(headings, rows))
}

/** Removes cached responses in all workers. Asks for confirmation before removing all. */
export async function cachePurge(options: PurgeOptions): Promise<void> {
  const { tag, all } = options
  const [key, prefix] = [options.key, options.prefix].map((text) => (text === undefined ? text : keyIn(text)))
  const scope = { key, prefix, tag, all }
  if (Object.values(scope).filter((value) => value !== undefined).length !== 1)
    throw usageError('specify what to remove: one of --key, --prefix, --tag and --all')
  if (all === true) await confirm('remove all cached responses?', options)
  const answer = await new AdminClient(options).post('/v1/cache/purge', scope)
  const [purged, unanswered] = [answer.number('purged'), answer.number('unanswered')]
  await printResult({ purged, unanswered }, options.output, () => print(`removed: ${purged}`))
  if (purged === 0 && (key ?? prefix) !== undefined) say(KEY_HINT)
  if (unanswered === 0) return
  throw new Failure(`${unanswered} workers have not responded yet; they remove the responses later`)
}
