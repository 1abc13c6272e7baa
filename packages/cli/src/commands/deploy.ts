import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import {
  type Diagnostic,
  diffPlans,
  displayPlan,
  formatDiagnostic,
  formatDiff,
  type Plan,
  type PlanChange,
} from '@sluice/config'
import { catalog } from '@sluice/policies'
import { AdminClient, refusal, type ServerOptions } from '../admin-client.js'
import { loadFile } from '../document.js'
import { EXIT, Failure } from '../failure.js'
import { type Format, print, printValue, say } from '../output/output.js'

export interface DeployOptions extends ServerOptions {
  readonly config: string
  readonly dryRun?: boolean
  readonly note?: string
  readonly output: Format
}

interface DeployAnswer {
  readonly result?: string
  readonly digest?: string | null
  readonly changes?: readonly PlanChange[]
  readonly diagnostics?: readonly Diagnostic[]
  readonly reasons?: readonly { readonly worker: number; readonly reason: string }[]
}

/** Brings a document to a running gateway: the differences first, then all workers or none. */
export async function deploy(options: DeployOptions): Promise<number> {
  loadFile(options.config)
  const client = new AdminClient(options)
  const { plan, etag } = await livePlan(client)
  const changes = changesTo(options.config, plan)
  if (options.output === 'table') for (const line of formatDiff(changes)) print(line)
  const answer = await client.send({
    method: 'PUT',
    path: `/v1/config?${query(options)}`,
    headers: { 'content-type': contentType(options.config), ...(etag === null ? {} : { 'if-match': etag }) },
    body: readFileSync(options.config, 'utf8'),
  })
  return report(answer.status, JSON.parse(answer.text || '{}') as DeployAnswer, options, () =>
    refusal(answer),
  )
}

/** Prints what differs between a document and the running gateway. */
export async function diff(options: DeployOptions & { readonly exitCode?: boolean }): Promise<number> {
  const { plan } = await livePlan(new AdminClient(options))
  const changes = changesTo(options.config, plan)
  if (options.output !== 'table') printValue({ changes }, options.output)
  else if (changes.length === 0) print('no differences')
  else for (const line of formatDiff(changes)) print(line)
  return changes.length > 0 && options.exitCode === true ? EXIT.differences : EXIT.ok
}

/** The plan that serves, as far as it is shown, and its ETag; null before the first. */
async function livePlan(
  client: AdminClient,
): Promise<{ readonly plan: Plan | null; readonly etag: string | null }> {
  const answer = await client.send({ method: 'GET', path: '/v1/plan' })
  if (answer.status === 404) return { plan: null, etag: null }
  if (answer.status !== 200) throw refusal(answer)
  return { plan: JSON.parse(answer.text) as Plan, etag: answer.headers.etag ?? null }
}

/** Secrets are masked on both sides, so a changed secret is not seen here; the gateway sees it. */
function changesTo(file: string, live: Plan | null): readonly PlanChange[] {
  return diffPlans(live, displayPlan(loadFile(file).plan, catalog), catalog)
}

function query(options: DeployOptions): string {
  const search = new URLSearchParams()
  if (options.dryRun === true) search.set('dryRun', '1')
  if (options.note !== undefined) search.set('note', options.note)
  return search.toString()
}

function contentType(file: string): string {
  return extname(file) === '.json' ? 'application/json' : 'application/yaml'
}

function report(status: number, answer: DeployAnswer, options: DeployOptions, other: () => Failure): number {
  if (status === 200) {
    if (options.output !== 'table') printValue(answer, options.output)
    else print(`${answer.result} ${answer.digest?.slice(0, 12) ?? ''}`)
    return EXIT.ok
  }
  if (status === 422)
    throw new Failure(EXIT.invalid, (answer.diagnostics ?? []).map(formatDiagnostic).join('\n'))
  if (status === 409 && answer.result === 'rolled-back') {
    for (const { worker, reason } of answer.reasons ?? []) say(`worker ${worker}: ${reason}`)
    throw new Failure(EXIT.rolledBack, 'rolled back: what served before goes on serving')
  }
  if (status === 412) {
    throw new Failure(EXIT.failed, 'the gateway was changed meanwhile; look at gw diff and deploy again')
  }
  throw other()
}
