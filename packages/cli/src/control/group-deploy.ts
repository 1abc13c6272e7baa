import { type Bundle, MAX_CHUNK_BYTES, packChunks } from '@sluice/control-client'
import type { AdminAnswer, AdminClient } from '../admin/admin-client.js'
import { AnswerPart } from '../admin/answer-part.js'
import { Failure } from '../output/failure.js'
import { groupPath } from './controller-client.js'

/** Options of a deploy to a group. */
export interface GroupDeployOptions {
  readonly note?: string
  /** Share of the known gateways that must be prepared, in percent. */
  readonly quorum?: number
  /** Time for gateways to prepare, in milliseconds. */
  readonly deadline?: number
  /** Number or share of gateways that take the deploy first, such as `1` or `10%`. */
  readonly canary?: string
  /** Duration of the comparison of canaries with the others, in milliseconds. */
  readonly for?: number
  /** Condition for the abortion, such as `errors > 1% || p99 > 2x`. */
  readonly abortOn?: string
}

/** Result of a deploy: the object in the response, or the one in its last line. */
export interface GroupDeployResult {
  readonly status: number
  readonly part: AnswerPart
  readonly answer: AdminAnswer
}

/** Number of chunks per upload. Together they stay below the limit of the controller. */
const CHUNKS_PER_UPLOAD = 100
/** Additional time for the response, in milliseconds: uploads, validation and activation. */
const EXTRA_MS = 60_000
const DEFAULT_DEADLINE_MS = 30_000
const DEFAULT_CANARY_MS = 300_000
const PROGRESS = 'application/x-ndjson'

/** Returns the ETag of the group's committed bundle, or null if there is none. @throws Failure */
export async function headTag(client: AdminClient, group: string): Promise<string | null> {
  const { headers } = await client.get(groupPath(group))
  return headers.etag ?? null
}

/** Uploads the chunks that the controller does not have. @throws Failure */
export async function upload(client: AdminClient, { chunks }: Bundle): Promise<void> {
  const digests = [...chunks.keys()]
  const missing = (await client.post('/v1/chunks/missing', { chunks: digests })).texts('missing')
  for (let i = 0; i < missing.length; i += CHUNKS_PER_UPLOAD) {
    const part = missing.slice(i, i + CHUNKS_PER_UPLOAD).map((digest) => chunks.get(digest)!)
    const answer = await client.send({
      method: 'POST',
      path: '/v1/chunks',
      headers: { 'content-type': 'application/octet-stream' },
      body: packChunks(part),
      timeoutMs: EXTRA_MS + part.length * MAX_CHUNK_BYTES,
    })
    if (answer.status !== 200) throw client.refused(answer)
  }
}

/** A request that starts a deploy. */
interface DeployCall {
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
  /** ETag that the group must have. Null: the group must have no bundle. Absent: no condition. */
  readonly tag?: string | null
  /** Called for each step. */
  readonly onStep: (step: AnswerPart) => void
}

/** Starts a deploy and waits for its end. @throws Failure if the controller cannot be reached */
export async function runDeploy(
  client: AdminClient,
  { path, body, tag, onStep }: DeployCall,
  { note, quorum, deadline, canary, for: forMs, abortOn }: GroupDeployOptions,
): Promise<GroupDeployResult> {
  const settings = {
    ...(note === undefined ? {} : { note }),
    ...(quorum === undefined ? {} : { quorumPercent: quorum }),
    ...(deadline === undefined ? {} : { deadlineMs: deadline }),
    ...(canary === undefined ? {} : { canary: { size: canary, forMs, abortOn } }),
  }
  const canaryMs = canary === undefined ? 0 : (forMs ?? DEFAULT_CANARY_MS) + (deadline ?? DEFAULT_DEADLINE_MS)
  let last: AnswerPart | null = null
  const answer = await client.send({
    method: 'POST',
    path,
    headers: { accept: PROGRESS, 'content-type': 'application/json', ...condition(tag) },
    body: JSON.stringify({ ...body, ...settings }),
    timeoutMs: (deadline ?? DEFAULT_DEADLINE_MS) + canaryMs + EXTRA_MS,
    onLine: (line) => {
      last = stepOf(line) ?? last
      if (last?.textOrNull('event') != null) onStep(last)
    },
  })
  if (answer.headers['content-type']?.startsWith(PROGRESS) !== true)
    return { status: answer.status, part: client.parsed(answer), answer }
  const part = last as AnswerPart | null
  if (part === null || part.textOrNull('event') !== null)
    throw new Failure(
      `the connection to ${client.origin} ended before the deploy did; see gw history for its result`,
    )
  return { status: part.numberOrNull('status') ?? 200, part, answer }
}

function condition(tag: string | null | undefined): Readonly<Record<string, string>> {
  if (tag === undefined) return {}
  return tag === null ? { 'if-none-match': '*' } : { 'if-match': tag }
}

function stepOf(line: string): AnswerPart | null {
  try {
    return new AnswerPart(JSON.parse(line), 'the response', 'controller')
  } catch {
    return null
  }
}
