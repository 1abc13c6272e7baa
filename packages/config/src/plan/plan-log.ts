/** Settings of the traffic log. */
export interface LogPlan extends LogOutletPlan<LogSinkKind | 'none'> {
  /** Additional targets. */
  readonly outputs: readonly LogOutputPlan[]
  /** Database for client locations, or null if they are not recorded. */
  readonly geo: { readonly file: string } | null
  /** Duration from which a call counts as slow and gets a detailed record. */
  readonly slowMs: number
  /** True if requests without a route, or rejected by a listener, are recorded. */
  readonly unknownRoutes: boolean
  /** Headers and bodies to record; null: none. */
  readonly capture: CapturePlan | null
}

/** Kind of log target. */
export type LogSinkKind =
  | 'file'
  | 'elasticsearch'
  | 'stdout'
  | 'syslog'
  | 'webhook'
  | 'loki'
  | 'kafka'
  | 'otlp'
  | 'custom'

/** A target of the log. */
export interface LogOutletPlan<Sink = LogSinkKind> {
  readonly sink: Sink
  readonly fields: 'minimal' | 'standard' | 'full'
  readonly file: LogFilePlan
  /** Elasticsearch settings, or null if the document has none. */
  readonly elasticsearch: LogElasticsearchPlan | null
  /** Settings of standard output; set only if `sink` is `stdout`. */
  readonly stdout?: LogStdoutPlan
  /** Settings of other kinds of targets; set if the document has them. */
  readonly syslog?: LogSyslogPlan
  readonly webhook?: LogWebhookPlan
  readonly loki?: LogLokiPlan
  readonly kafka?: LogKafkaPlan
  readonly otlp?: LogOtlpPlan
  readonly custom?: LogCustomPlan
  /** Privacy rules, or null if the document has none. A target without rules uses those of the log. */
  readonly privacy: LogPrivacyPlan | null
}

/** An additional target of the log. */
export interface LogOutputPlan extends LogOutletPlan {
  readonly id: string
  /** Condition for the calls to record; null: all. */
  readonly when: string | null
  /** Share of these calls to record, 0 to 1; null: all. */
  readonly share: number | null
  /** Restricts the captured headers and bodies; null: no restriction. */
  readonly capture: NarrowingPlan | null
}

/** Settings of a `stdout` target. */
export interface LogStdoutPlan {
  readonly spool: LogSpoolPlan
}

/** A syslog facility (RFC 5424 section 6.2.1). */
export type LogFacility =
  | ('kern' | 'user' | 'mail' | 'daemon' | 'auth' | 'syslog' | 'lpr' | 'news' | 'uucp' | 'cron' | 'authpriv')
  | ('ftp' | 'ntp' | 'audit' | 'alert' | 'clock')
  | `local${0 | 1 | 2 | 3 | 4 | 5 | 6 | 7}`

/** Settings of a `syslog` target. */
export interface LogSyslogPlan {
  /** `udp://`, `tcp://` or `tls://` URL. */
  readonly address: string
  readonly facility: LogFacility
  readonly appName: string
  readonly structuredDataId: string
  readonly maxMessageBytes: number
  readonly tls: {
    readonly caFile: string | null
    readonly certFile: string | null
    readonly keyFile: string | null
    readonly insecure: boolean
  }
  readonly spool: LogSpoolPlan
}

/** Settings common to targets that receive records over HTTP. */
export interface LogHttpPlan {
  readonly url: string
  readonly auth: { readonly username: string; readonly password: string } | { readonly token: string } | null
  readonly compress: boolean
  readonly timeoutMs: number
  readonly tls: { readonly caFile: string | null; readonly insecure: boolean }
  readonly spool: LogSpoolPlan
}

/** Settings of a `webhook` target. */
export interface LogWebhookPlan extends LogHttpPlan {
  readonly headers: Readonly<Record<string, string>>
  readonly format: 'ndjson' | 'array'
  readonly signature: { readonly secret: string; readonly header: string } | null
}

/** Settings of a `loki` target. */
export interface LogLokiPlan extends LogHttpPlan {
  /** Tenant; null: none. */
  readonly tenant: string | null
  readonly labels: Readonly<Record<string, string>>
  /** Labels taken from the record. */
  readonly recordLabels: readonly (
    | ('route' | 'api' | 'group' | 'env')
    | ('status' | 'result' | 'pod' | 'worker')
  )[]
  readonly structuredMetadata: boolean
}

/** Settings of a `kafka` target. */
export interface LogKafkaPlan {
  /** Addresses, `host:port`. */
  readonly brokers: readonly string[]
  readonly topic: string
  readonly key: 'request-id' | 'route' | 'client-ip' | 'none'
  readonly acks: 'all' | 'leader'
  readonly compression: 'none' | 'gzip' | 'snappy' | 'lz4'
  readonly maxBatchBytes: number
  readonly clientId: string
  readonly connectTimeoutMs: number
  readonly timeoutMs: number
  readonly sasl: {
    readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'
    readonly username: string
    readonly password: string
  } | null
  /** TLS settings, or null for unencrypted connections. */
  readonly tls: LogSyslogPlan['tls'] | null
  readonly spool: LogSpoolPlan
}

/** Settings of an export to an OpenTelemetry collector. */
export interface OtlpPlan extends Omit<LogHttpPlan, 'auth' | 'spool'> {
  readonly headers: Readonly<Record<string, string>>
}

/** Settings of an `otlp` target. */
export interface LogOtlpPlan extends OtlpPlan {
  /** `traces` for the spans of `tracing.exporter`, `logs` for records. */
  readonly signal: 'traces' | 'logs'
  readonly spool: LogSpoolPlan
}

/** Settings of a `custom` target. */
export interface LogCustomPlan {
  /** Package name, or a path that starts with `.` or `/`. */
  readonly module: string
  /** Folder of the document, where the module is looked up. A reference until the plan is resolved. */
  readonly from: string
  readonly options: Readonly<Record<string, unknown>>
  readonly spool: LogSpoolPlan
}

/** On-disk queue of records that have not been delivered. */
export interface LogSpoolPlan {
  readonly dir: string
  /** Maximum size for all workers together. */
  readonly maxBytes: number
  /** Minimum free disk space in bytes. */
  readonly minFreeBytes: number
  readonly whenFull: 'drop-oldest' | 'drop-newest'
}

/** Traffic log settings of a route. */
export interface RouteLogPlan extends LogRulePlan {
  /** Settings for individual methods (upper case), which replace those of the route. */
  readonly methods: Readonly<Record<string, LogRulePlan>>
}

/** Traffic log settings of a route or method. */
export interface LogRulePlan {
  /** True if calls are not recorded. */
  readonly off: boolean
  /** Headers and bodies to record; null: none. */
  readonly capture: CapturePlan | null
}

/** Headers and bodies that are captured. */
export interface CapturePlan {
  /** Request from the client, request to the target, response from the target, response to the client. */
  readonly requestIn: RegionPlan
  readonly requestUp: RegionPlan
  readonly responseUp: RegionPlan
  readonly responseOut: RegionPlan
  /** Maximum number of bytes per body. */
  readonly maxBodyBytes: number
  /** True if the SHA-256 of each complete body is recorded. */
  readonly sha256: boolean
  /** Header fields to record, in lower case; null: all. */
  readonly headersAllow: readonly string[] | null
  /** Header fields that are never recorded, in lower case. */
  readonly headersDeny: readonly string[]
  readonly binary: 'omit' | 'base64'
  /** Content of multipart forms to record: only field headers, or also field values. */
  readonly multipart: 'names' | 'values'
  /** Exchanges whose bodies are recorded; null: all. */
  readonly keepBodyOn: KeepBodyPlan | null
}

/** Restriction of what was captured, for one target. Absent keys do not restrict anything. */
export interface NarrowingPlan extends Omit<CapturePlan, 'binary' | 'keepBodyOn'> {
  readonly binary?: CapturePlan['binary']
  readonly keepBodyOn?: CapturePlan['keepBodyOn']
}

/** Parts of a message that are recorded. */
export interface RegionPlan {
  readonly headers: boolean
  readonly body: boolean
}

/** Conditions under which bodies are recorded. */
export interface KeepBodyPlan {
  readonly results: readonly ('error' | 'blocked' | 'aborted' | 'shed')[]
  readonly slowMs: number | null
  readonly status: number | null
  /** Share of all exchanges, 0 to 1, independent of their result. */
  readonly share: number | null
}

/** Settings of a `elasticsearch` target. */
export interface LogElasticsearchPlan {
  readonly nodes: readonly string[]
  readonly dataStream: string
  /** Set if the nodes run OpenSearch instead of Elasticsearch. */
  readonly product?: 'opensearch'
  readonly auth: { readonly username: string; readonly password: string } | { readonly apiKey: string } | null
  readonly tls: { readonly caFile: string | null; readonly insecure: boolean }
  readonly compress: boolean
  /** Age at which records are deleted; null: never. */
  readonly retentionMs: number | null
  readonly replicas: number
  readonly manage: boolean
  readonly spool: LogSpoolPlan
}

/** Privacy rules of the traffic log. */
export interface LogPrivacyPlan {
  /** Keys. The first one is used; the others are for older records. */
  readonly keys: readonly LogPrivacyKey[]
  /** Rules in document order. */
  readonly rules: readonly LogPrivacyRule[]
}

/** A key for hashing and encryption. */
export interface LogPrivacyKey {
  readonly id: string
  readonly secret: string
}

/** A privacy rule. */
export interface LogPrivacyRule {
  readonly id: string
  readonly find:
    | { readonly names: readonly string[] }
    | { readonly regex: string }
    | { readonly type: LogPrivacyType }
  readonly in: readonly ('headers' | 'query' | 'body' | 'vars')[]
  readonly do: 'mask' | 'delete' | 'hash' | 'encrypt' | 'detect'
  /** Part of the value that a mask leaves visible. */
  readonly shape: { readonly kind: 'whole' | 'keepFirst' | 'keepLast' | 'maskFirst'; readonly count: number }
}

/** Types of values that are recognised by their format. */
export type LogPrivacyType = 'card' | 'iban' | 'tckn' | 'email' | 'phone' | 'jwt' | 'private-key' | 'aws-key'

/** Settings of a `file` target. */
export interface LogFilePlan {
  readonly dir: string
  /** Maximum size of all segments; the oldest are deleted. */
  readonly maxBytes: number
  /** Size at which a new segment is started. */
  readonly segmentBytes: number
}
