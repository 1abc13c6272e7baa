import type { LogElasticsearchPlan } from '@sluice/config'
import { secretInFile } from '../input/secret.js'
import { usageError } from '../output/failure.js'

/**
 * Options of commands that use Elasticsearch. They contain no secrets, because other users can see the
 * command line.
 */
export interface ElasticsearchFlags {
  readonly config?: string
  /** Log target in the document; `main` is log.sink. */
  readonly target?: string
  readonly elasticsearch?: readonly string[]
  readonly dataStream?: string
  readonly esUsername?: string
  readonly esPasswordFile?: string
  readonly esApiKeyFile?: string
  readonly esCaFile?: string
}

/** Access to a cluster and its data stream. */
export interface ElasticsearchAccess {
  readonly nodes: readonly string[]
  readonly dataStream: string
  readonly product?: 'opensearch'
  readonly auth: LogElasticsearchPlan['auth']
  readonly caFile: string | null
  readonly insecure: boolean
  readonly compress: boolean
}

const DEFAULT_STREAM = 'logs-gateway-default'
const STREAM = /^[a-z0-9][a-z0-9._-]{0,254}$/

/**
 * Returns access to the cluster in the options. It does not use credentials of a document, which are only for
 * the document's nodes.
 * @throws Failure
 */
export function namedAccess(flags: ElasticsearchFlags, nodes: readonly string[]): ElasticsearchAccess {
  const dataStream = streamOf(flags) ?? DEFAULT_STREAM
  const caFile = flags.esCaFile ?? null
  return {
    nodes: nodes.map(checkedNode),
    dataStream,
    auth: credentials(flags),
    caFile,
    insecure: false,
    compress: false,
  }
}

/**
 * Returns access to the cluster of a document. Options and environment variables take precedence.
 * @throws Failure
 */
export function documentAccess(flags: ElasticsearchFlags, plan: LogElasticsearchPlan): ElasticsearchAccess {
  return {
    nodes: plan.nodes,
    dataStream: streamOf(flags) ?? plan.dataStream,
    ...(plan.product === undefined ? {} : { product: plan.product }),
    auth: credentials(flags) ?? plan.auth,
    caFile: flags.esCaFile ?? plan.tls.caFile,
    insecure: plan.tls.insecure,
    compress: plan.compress,
  }
}

function streamOf({ dataStream }: ElasticsearchFlags): string | undefined {
  if (dataStream === undefined || STREAM.test(dataStream)) return dataStream
  throw usageError(
    `'${dataStream}' is not a valid data stream name; use lower-case letters, digits, dots, hyphens and underscores`,
  )
}

/** Checks the URL of a node. An invalid one is not shown, because it may contain a password. */
function checkedNode(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  const isNode = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  if (isNode) return text
  throw usageError(
    '--elasticsearch needs the URL of a cluster without credentials, for example https://es.example.com:9200; set credentials with GW_ES_USERNAME and GW_ES_PASSWORD, or GW_ES_API_KEY',
  )
}

/** Returns the credentials from the options, else from the environment, else null. */
function credentials(flags: ElasticsearchFlags): LogElasticsearchPlan['auth'] {
  const { GW_ES_USERNAME = '', GW_ES_PASSWORD = '', GW_ES_API_KEY = '' } = process.env
  const { esUsername, esPasswordFile, esApiKeyFile } = flags
  const isUserNamed = esUsername !== undefined || esPasswordFile !== undefined
  if (esApiKeyFile !== undefined) {
    if (isUserNamed) throw usageError('use either a user name or an API key, not both')
    return keyOf(secretInFile(esApiKeyFile, 'file of the API key'), `the file ${esApiKeyFile}`)
  }
  if (!isUserNamed && GW_ES_API_KEY !== '') {
    if (GW_ES_USERNAME !== '')
      throw usageError('GW_ES_USERNAME and GW_ES_API_KEY are both set; unset one of them')
    return keyOf(GW_ES_API_KEY, 'GW_ES_API_KEY')
  }
  const username = esUsername ?? GW_ES_USERNAME
  const password =
    esPasswordFile === undefined ? GW_ES_PASSWORD : secretInFile(esPasswordFile, 'file of the password')
  if (username === '' && password === '') return null
  if (username !== '' && password !== '') return { username, password }
  throw usageError(
    'user name and password must be set together: --es-username or GW_ES_USERNAME, --es-password-file or GW_ES_PASSWORD',
  )
}

/** Checks the format of an API key without showing it. */
function keyOf(apiKey: string, where: string): { readonly apiKey: string } {
  if (/^[\x21-\x7e]+$/.test(apiKey)) return { apiKey }
  throw usageError(`${where} contains no valid API key; it must be one line of visible ASCII characters`)
}
