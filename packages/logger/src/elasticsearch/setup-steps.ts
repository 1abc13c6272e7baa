import type { Client } from '@elastic/elasticsearch'
import { statusOf } from './cluster-error.js'
import { type ForeignTemplate, foreignTemplate } from './foreign-template.js'
import { mappingDifferences } from './mapping-differences.js'
import { differences } from './setup-differences.js'

/** A request that changes the cluster. */
export interface SetupRequest {
  readonly method: 'PUT' | 'POST'
  readonly path: string
  readonly body: object | null
}

/** A component of the data stream setup and the action it needs. */
export interface SetupStep {
  readonly what: 'index template' | 'data stream' | 'lifecycle' | 'rollover'
  readonly name: string
  /** Needed action. `conflict`: an unrelated template must be changed or deleted first. */
  readonly action: 'create' | 'change' | 'keep' | 'conflict'
  /** Lines such as `name: before -> after`, for users. */
  readonly differences: readonly string[]
  /** Request that carries out the action, or null if none is needed. */
  readonly request: SetupRequest | null
}

/** The desired state of the cluster. */
export interface WantedSetup {
  readonly dataStream: string
  readonly retention: string | null
  readonly template: object
  readonly priority: number
  readonly mappings: object
  /** True if an operator requested the setup. False if a starting worker did. */
  readonly isByHand: boolean
}

interface TemplateAnswer {
  readonly index_templates?: readonly { readonly index_template?: object }[]
}

interface DataStreamAnswer {
  readonly data_streams?: readonly {
    /** Backing indices. The last one is the write index. */
    readonly indices?: readonly { readonly index_name: string }[]
    readonly lifecycle?: { readonly enabled?: boolean; readonly data_retention?: string }
  }[]
}

/**
 * Template members that take effect when an index is created. Changes of other members take effect
 * immediately.
 */
const OF_INDICES = /^template\.(settings|mappings)\./

/** Compares the cluster with the desired state and returns the necessary steps. */
export async function setupSteps(client: Client, wanted: WantedSetup): Promise<SetupStep[]> {
  const { dataStream } = wanted
  const foreign = await foreignTemplate(client, { ...wanted, name: `${dataStream}-template` })
  const template = await read<TemplateAnswer>(client, `/_index_template/${templateName(dataStream)}`)
  const stream = await read<DataStreamAnswer>(client, `/_data_stream/${encodeURIComponent(dataStream)}`)
  const templateStep = stepOfTemplate(wanted, template?.index_templates?.[0]?.index_template ?? null)
  // With this template, the data stream or its next index would not accept records properly.
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

/**
 * Returns the mapping differences of the write index. It may be older than our template, or created from
 * another one.
 */
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

/** Returns the response, or null if the resource does not exist. */
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

/**
 * Updates the lifecycle of an existing data stream. The lifecycle in the template only applies to new ones.
 */
function lifecycle(
  { dataStream, retention }: WantedSetup,
  current: { readonly enabled?: boolean; readonly data_retention?: string } | null,
): SetupStep {
  const subject = { what: 'lifecycle', name: dataStream } as const
  const isManaged = current !== null && current.enabled !== false
  const before = isManaged ? (current.data_retention ?? 'forever') : 'none'
  const after = retention ?? 'forever'
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
 * Starts a new backing index, because settings and mappings of an index are fixed when it is created. If an
 * operator asks and the current index has wrong mappings, this happens immediately. Otherwise it happens with
 * the next record; with this lazy rollover, requests of many workers create only one index.
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
