import type { CustomOptions } from '../outputs/custom/output.js'
import type { ElasticsearchOptions } from '../outputs/elasticsearch/output.js'
import type { KafkaOptions } from '../outputs/kafka/options.js'
import type { LokiOptions } from '../outputs/loki/options.js'
import type { OtlpOutputOptions } from '../outputs/otlp/options.js'
import type { Delivery, LogOutput, ReportProblem, Shipment } from '../outputs/output.js'
import type { SyslogOptions } from '../outputs/syslog/options.js'
import type { WebhookOptions } from '../outputs/webhook/options.js'

/** Options of each kind of output. */
interface OptionsByKind {
  readonly elasticsearch: ElasticsearchOptions
  readonly stdout: object
  readonly syslog: SyslogOptions
  readonly webhook: WebhookOptions
  readonly loki: LokiOptions
  readonly kafka: KafkaOptions
  readonly otlp: OtlpOutputOptions
  readonly custom: CustomOptions
}

type Kind = keyof OptionsByKind
type OptionsOf<K extends Kind> = { readonly kind: K } & OptionsByKind[K]

/** Options of an output, with its kind. Structured-cloneable, so that they can be passed to a thread. */
export type LogOutputOptions = { [K in Kind]: OptionsOf<K> }[Kind]

type Opener<K extends Kind> = (options: OptionsByKind[K], report: ReportProblem) => Promise<LogOutput>

/**
 * Functions that open each kind of output. Modules are loaded on demand: the Elasticsearch client alone takes
 * about 100 ms.
 */
const OPENERS: { readonly [K in Kind]: Opener<K> } = {
  elasticsearch: async (options, report) =>
    new (await import('../outputs/elasticsearch/output.js')).ElasticsearchOutput(options, report),
  stdout: async () => new (await import('../outputs/stdout/output.js')).StdoutOutput(),
  syslog: async (options) => new (await import('../outputs/syslog/output.js')).SyslogOutput(options),
  webhook: async (options) => new (await import('../outputs/webhook/output.js')).WebhookOutput(options),
  loki: async (options) => new (await import('../outputs/loki/output.js')).LokiOutput(options),
  kafka: async (options) => new (await import('../outputs/kafka/output.js')).KafkaOutput(options),
  otlp: async (options, report) =>
    new (await import('../outputs/otlp/output.js')).OtlpOutput(options, report),
  custom: async (options, report) =>
    new (await import('../outputs/custom/output.js')).CustomOutput(options, report),
}

/** Opens an output without sending anything. Rejects if the options are invalid. */
export function openOutput<K extends Kind>(options: OptionsOf<K>, report: ReportProblem): Promise<LogOutput> {
  return OPENERS[options.kind](options, report)
}

/** Returns an output that can be used before it is open. If opening fails, each delivery retries it. */
export function openWithRetry(open: () => Promise<LogOutput>): LogOutput {
  let output: Promise<LogOutput> | null = open()
  output.catch(() => {})
  return {
    async deliver(shipment: Shipment): Promise<Delivery> {
      output ??= open()
      let opened: LogOutput
      try {
        opened = await output
      } catch (error) {
        output = null
        return {
          kind: 'failed',
          overload: false,
          reason: `cannot open the target: ${(error as Error).message}`,
        }
      }
      return opened.deliver(shipment)
    },
    async close(): Promise<void> {
      const opened = await output?.catch(() => null)
      await opened?.close()
    },
  }
}
