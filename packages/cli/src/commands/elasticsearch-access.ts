import type { LogElasticsearchPlan } from '@sluice/config'
import { EXIT, Failure } from '../failure.js'
import { secretInFile } from '../input/secret-file.js'

/** The options of commands that talk to Elasticsearch. Secrets are not among them: others can see a command line. */
export interface ElasticsearchFlags {
  readonly config?: string
  /** Which of the targets of a document's log; `main` is that of log.sink. */
  readonly target?: string
  readonly elasticsearch?: readonly string[]
  readonly dataStream?: string
  readonly esUsername?: string
  readonly esPasswordFile?: string
  readonly esApiKeyFile?: string
  readonly esCaFile?: string
}

/** How a cluster is reached, and its data stream. */
export interface ElasticsearchAccess {
  readonly nodes: readonly string[]
  readonly dataStream: string
  readonly auth: LogElasticsearchPlan['auth']
  readonly caFile: string | null
  readonly insecure: boolean
  readonly compress: boolean
}

const DEFAULT_STREAM = 'logs-gateway-default'
const STREAM = /^[a-z0-9][a-z0-9._-]{0,254}$/

/** The cluster that the options name. Credentials of a document are for its own nodes only. @throws Failure. */
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

/** The cluster of a document; what the options and the environment say goes first. @throws Failure. */
export function documentAccess(flags: ElasticsearchFlags, plan: LogElasticsearchPlan): ElasticsearchAccess {
  return {
    nodes: plan.nodes,
    dataStream: streamOf(flags) ?? plan.dataStream,
    auth: credentials(flags) ?? plan.auth,
    caFile: flags.esCaFile ?? plan.tls.caFile,
    insecure: plan.tls.insecure,
    compress: plan.compress,
  }
}

function streamOf({ dataStream }: ElasticsearchFlags): string | undefined {
  if (dataStream === undefined || STREAM.test(dataStream)) return dataStream
  throw usage(
    `'${dataStream}' is not the name of a data stream; it has lower-case letters, digits, dots, hyphens and underscores`,
  )
}

/** An address that is refused is not repeated, because it may hold a password. */
function checkedNode(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  const isNode = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
  if (isNode) return text
  throw usage(
    '--elasticsearch takes the URL of a cluster, for example https://es.example.com:9200, without credentials; they come from GW_ES_USERNAME and GW_ES_PASSWORD, or GW_ES_API_KEY',
  )
}

/** Those of the options, else those of the environment, else null. */
function credentials(flags: ElasticsearchFlags): LogElasticsearchPlan['auth'] {
  const { GW_ES_USERNAME = '', GW_ES_PASSWORD = '', GW_ES_API_KEY = '' } = process.env
  const { esUsername, esPasswordFile, esApiKeyFile } = flags
  const isUserNamed = esUsername !== undefined || esPasswordFile !== undefined
  if (esApiKeyFile !== undefined) {
    if (isUserNamed) throw usage('name a user or an API key, not both')
    return keyOf(secretInFile(esApiKeyFile, 'file of the API key'), `the file ${esApiKeyFile}`)
  }
  if (!isUserNamed && GW_ES_API_KEY !== '') {
    if (GW_ES_USERNAME !== '') throw usage('GW_ES_USERNAME and GW_ES_API_KEY are both set; unset one of them')
    return keyOf(GW_ES_API_KEY, 'GW_ES_API_KEY')
  }
  const username = esUsername ?? GW_ES_USERNAME
  const password =
    esPasswordFile === undefined ? GW_ES_PASSWORD : secretInFile(esPasswordFile, 'file of the password')
  if (username === '' && password === '') return null
  if (username !== '' && password !== '') return { username, password }
  throw usage(
    'a user and a password belong together: --es-username or GW_ES_USERNAME, --es-password-file or GW_ES_PASSWORD',
  )
}

/** The key itself is never repeated. */
function keyOf(apiKey: string, where: string): { readonly apiKey: string } {
  if (/^[\x21-\x7e]+$/.test(apiKey)) return { apiKey }
  throw usage(`${where} holds no API key; it must be one line of visible ASCII characters`)
}

function usage(message: string): Failure {
  return new Failure(EXIT.usage, message)
}
