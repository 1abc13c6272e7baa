import type { Client } from '@elastic/elasticsearch'
import { statusOf } from './failure.js'
import { type ForeignTemplate, foreignTemplate } from './foreign-template.js'
import { mappingDifferences } from './mapping-differences.js'
import { differences } from './setup-differences.js'

/** A change of the cluster, as it is sent. */
export interface SetupRequest {
  readonly method: 'PUT' | 'POST'
  readonly path: string
  readonly body: object | null
}

/** One thing that a data stream needs, and what there is to do about it. */
export interface SetupStep {
  readonly what: 'index template' | 'data stream' | 'lifecycle' | 'rollover'
  readonly name: string
  /** `conflict`: somebody else's, which has to give way first. */
  readonly action: 'create' | 'change' | 'keep' | 'conflict'
  /** `name: before -> after`, for people. */
  readonly differences: readonly string[]
  /** Null: there is nothing to do. */
  readonly request: SetupRequest | null
}

/** What there is to be. */
export interface WantedSetup {
  readonly dataStream: string
  readonly retention: string | null
  readonly template: object
  readonly priority: number
  readonly mappings: object
  /** A person set it up, and not each worker of a gateway that starts. */
  readonly isByHand: boolean
}

interface TemplateAnswer {
  readonly index_templates?: readonly { readonly index_template?: object }[]
}

interface DataStreamAnswer {
  readonly data_streams?: readonly {
    /** The last is the one that is written to. */
    readonly indices?: readonly { readonly index_name: string }[]
    readonly lifecycle?: { readonly enabled?: boolean; readonly data_retention?: string }
  }[]
}

/** Members of a template that take effect when an index is made; the others do at once. */
const OF_INDICES = /^template\.(settings|mappings)\./

/** Compares what is there with what is wanted. */
export async function setupSteps(client: Client, wanted: WantedSetup): Promise<SetupStep[]> {
  const { dataStream } = wanted
  const foreign = await foreignTemplate(client, { ...wanted, name: `${dataStream}-template` })
  const template = await read<TemplateAnswer>(client, `/_index_template/${templateName(dataStream)}`)
  const stream = await read<DataStreamAnswer>(client, `/_data_stream/${encodeURIComponent(dataStream)}`)
  const templateStep = stepOfTemplate(wanted, template?.index_templates?.[0]?.index_template ?? null)
  // With it the data stream, or its next index, would not be what records need.
  if (foreign !== null) return [templateStep, conflict(foreign)]
  const existing = stream?.data_streams?.[0] ?? null
  if (existing === null) return [templateStep, creation(dataStream)]
  const kept: SetupStep = {
    what: 'data stream',
    name: dataStream,
    action: 'keep',
    differences: [],
    request: null,
  }
  const steps = [templateStep, kept, lifecycle(wanted, existing.lifecycle ?? null)]
  const found = await differencesOfIndex(client, existing.indices?.at(-1)?.index_name, wanted.mappings)
  if (hasNewIndices(templateStep) || found.length > 0) steps.push(rollover(wanted, found))
  return steps
}

/** In what the index that is written to differs: it may be older than the template, or another template made it. */
async function differencesOfIndex(
  client: Client,
  index: string | undefined,
  mappings: object,
): Promise<readonly string[]> {
  if (index === undefined) return []
  const path = `/${encodeURIComponent(index)}/_mapping`
  const answer = await read<Readonly<Record<string, { readonly mappings?: object }>>>(client, path)
  return answer === null ? [] : mappingDifferences(answer[index]?.mappings ?? {}, mappings)
}

function conflict({ name, priority, patterns, differences: found }: ForeignTemplate): SetupStep {
  const facts = `priority ${priority}, for ${patterns.join(', ')}`
  return { what: 'index template', name, action: 'conflict', differences: [facts, ...found], request: null }
}

/** Null when it is not there. */
async function read<Answer>(client: Client, path: string): Promise<Answer | null> {
  try {
    return await client.transport.request<Answer>({ method: 'GET', path })
  } catch (error) {
    if (statusOf(error) === 404) return null
    throw error
  }
}

function templateName(dataStream: string): string {
  return `${encodeURIComponent(dataStream)}-template`
}

function stepOfTemplate({ dataStream, template }: WantedSetup, current: object | null): SetupStep {
  const request = {
    method: 'PUT',
    path: `/_index_template/${templateName(dataStream)}`,
    body: template,
  } as const
  const subject = { what: 'index template', name: `${dataStream}-template` } as const
  if (current === null) return { ...subject, action: 'create', differences: [], request }
  const found = differences(current, template)
  if (found.length === 0) return { ...subject, action: 'keep', differences: [], request: null }
  return { ...subject, action: 'change', differences: found, request }
}

function creation(dataStream: string): SetupStep {
  const request = {
    method: 'PUT',
    path: `/_data_stream/${encodeURIComponent(dataStream)}`,
    body: null,
  } as const
  return { what: 'data stream', name: dataStream, action: 'create', differences: [], request }
}

/** The template's lifecycle is that of new data streams; one that is there has its own. */
function lifecycle(
  { dataStream, retention }: WantedSetup,
  current: { readonly enabled?: boolean; readonly data_retention?: string } | null,
): SetupStep {
  const subject = { what: 'lifecycle', name: dataStream } as const
  const isManaged = current !== null && current.enabled !== false
  const before = isManaged ? (current.data_retention ?? 'for ever') : 'none'
  const after = retention ?? 'for ever'
  if (before === after) return { ...subject, action: 'keep', differences: [], request: null }
  const path = `/_data_stream/${encodeURIComponent(dataStream)}/_lifecycle`
  const body = retention === null ? {} : { data_retention: retention }
  return {
    ...subject,
    action: 'change',
    differences: [`retention: ${before} -> ${after}`],
    request: { method: 'PUT', path, body },
  }
}

function hasNewIndices({ action, differences: found }: SetupStep): boolean {
  return action === 'create' || found.some((difference) => OF_INDICES.test(difference))
}

/**
 * Settings and fields of an index are those of the template when it was made, so records get a new one: at once when a
 * person asks and the present one does not take them, else with the next record. That is lazy: many workers that ask
 * for it get one.
 */
function rollover({ dataStream, isByHand }: WantedSetup, found: readonly string[]): SetupStep {
  const now = isByHand && found.length > 0
  const request = {
    method: 'POST',
    path: `/${encodeURIComponent(dataStream)}/_rollover${now ? '' : '?lazy=true'}`,
    body: null,
  } as const
  return { what: 'rollover', name: dataStream, action: 'change', differences: found, request }
}
