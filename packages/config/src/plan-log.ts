/** The traffic log as the Plan has it. */
export interface LogPlan extends LogOutletPlan<LogSinkKind | 'none'> {
  /** Further outputs. */
  readonly targets: readonly LogTargetPlan[]
  /** Records where clients are; null: not. */
  readonly geo: { readonly file: string } | null
  /** The record of a call that takes longer holds as much as that of one that fails. */
  readonly slowMs: number
  /** Requests without a route, and those that a listener refuses, are recorded too. */
  readonly unknownRoutes: boolean
  /** What is kept beside the record; null: nothing. */
  readonly capture: CapturePlan | null
}

export type LogSinkKind = 'file' | 'elasticsearch' | 'stdout' | 'syslog' | 'webhook' | 'custom'

/** One output of the log. */
export interface LogOutletPlan<Sink = LogSinkKind> {
  readonly sink: Sink
  readonly fields: 'minimal' | 'standard' | 'full'
  readonly file: LogFilePlan
  /** Null unless the document has it. */
  readonly elasticsearch: LogElasticsearchPlan | null
  /** There when it is the sink. */
  readonly stdout?: LogStdoutPlan
  /** These are there when the document has them. */
  readonly syslog?: LogSyslogPlan
  readonly webhook?: LogWebhookPlan
  readonly custom?: LogCustomPlan
  /** Null unless the document has it; a target without it has that of the log. */
  readonly privacy: LogPrivacyPlan | null
}

/** An output beside the first. */
export interface LogTargetPlan extends LogOutletPlan {
  readonly id: string
  /** It gets the calls for which this condition holds; null: all. */
  readonly when: string | null
  /** Of those calls, 0 to 1; null: all. */
  readonly share: number | null
  /** What it records of the messages that are kept; null: all of it. */
  readonly capture: NarrowingPlan | null
}

export interface LogStdoutPlan {
  readonly spool: LogSpoolPlan
}

/** A facility of syslog (RFC 5424 section 6.2.1). */
export type LogFacility =
  | ('kern' | 'user' | 'mail' | 'daemon' | 'auth' | 'syslog' | 'lpr' | 'news' | 'uucp' | 'cron' | 'authpriv')
  | ('ftp' | 'ntp' | 'audit' | 'alert' | 'clock')
  | `local${0 | 1 | 2 | 3 | 4 | 5 | 6 | 7}`

export interface LogSyslogPlan {
  /** `udp://`, `tcp://` or `tls://`. */
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

export interface LogWebhookPlan {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly auth: { readonly username: string; readonly password: string } | { readonly token: string } | null
  readonly format: 'ndjson' | 'array'
  readonly compress: boolean
  readonly timeoutMs: number
  readonly signature: { readonly secret: string; readonly header: string } | null
  readonly tls: { readonly caFile: string | null; readonly insecure: boolean }
  readonly spool: LogSpoolPlan
}

export interface LogCustomPlan {
  /** A package, or a path that begins with `.` or `/`. */
  readonly module: string
  /** The folder of the document, from which both are looked up; a reference until the plan is resolved. */
  readonly from: string
  readonly options: Readonly<Record<string, unknown>>
  readonly spool: LogSpoolPlan
}

/** Where records wait until their target has them. */
export interface LogSpoolPlan {
  readonly dir: string
  /** All workers together. */
  readonly maxBytes: number
  /** Bytes of the disk that are left to others. */
  readonly keepFreeBytes: number
  readonly whenFull: 'drop-oldest' | 'drop-newest'
}

export interface RouteLogPlan extends LogRulePlan {
  /** Rules for single methods, upper case, in the place of the route's own. */
  readonly methods: Readonly<Record<string, LogRulePlan>>
}

export interface LogRulePlan {
  /** No records at all. */
  readonly off: boolean
  /** What is kept beside the record; null: nothing. */
  readonly capture: CapturePlan | null
}

export interface CapturePlan {
  /** As the client sent it, as it went to the target, as the target sent it, as it went to the client. */
  readonly requestIn: RegionPlan
  readonly requestUp: RegionPlan
  readonly responseUp: RegionPlan
  readonly responseOut: RegionPlan
  /** The most of a body that is kept, for each region. */
  readonly maxBodyBytes: number
  /** The SHA-256 of each whole body is recorded. */
  readonly sha256: boolean
  /** Header fields that are recorded, lower case; null: all. */
  readonly headersAllow: readonly string[] | null
  /** Header fields that are not recorded, lower case. */
  readonly headersDeny: readonly string[]
  readonly binary: 'omit' | 'base64'
  /** Of the fields of a multipart form: the field lines alone, or what they hold as well. */
  readonly multipart: 'names' | 'values'
  /** The exchanges whose bodies are kept: those that ended so. Null: all. */
  readonly keepBodyOn: KeepBodyPlan | null
}

/** What is recorded of what was kept: of regions, bodies and fields as much as both say; what is absent is as it was kept. */
export interface NarrowingPlan extends Omit<CapturePlan, 'binary' | 'keepBodyOn'> {
  readonly binary?: CapturePlan['binary']
  readonly keepBodyOn?: CapturePlan['keepBodyOn']
}

export interface RegionPlan {
  readonly headers: boolean
  readonly body: boolean
}

export interface KeepBodyPlan {
  readonly results: readonly ('error' | 'blocked' | 'aborted' | 'shed')[]
  readonly slowMs: number | null
  readonly status: number | null
  /** Of all exchanges, 0 to 1, however they end. */
  readonly share: number | null
}

export interface LogElasticsearchPlan {
  readonly nodes: readonly string[]
  readonly dataStream: string
  readonly auth: { readonly username: string; readonly password: string } | { readonly apiKey: string } | null
  readonly tls: { readonly caFile: string | null; readonly insecure: boolean }
  readonly compress: boolean
  /** Records are deleted after this time; null keeps them. */
  readonly retentionMs: number | null
  readonly replicas: number
  readonly manage: boolean
  readonly spool: LogSpoolPlan
}

export interface LogPrivacyPlan {
  /** The first one is used; the others belong to records of before. */
  readonly keys: readonly LogPrivacyKey[]
  /** In the order of the document. */
  readonly rules: readonly LogPrivacyRule[]
}

export interface LogPrivacyKey {
  readonly id: string
  readonly secret: string
}

export interface LogPrivacyRule {
  readonly id: string
  readonly find:
    | { readonly names: readonly string[] }
    | { readonly regex: string }
    | { readonly type: LogPrivacyType }
  readonly in: readonly ('headers' | 'query' | 'body' | 'vars')[]
  readonly do: 'mask' | 'delete' | 'hash' | 'encrypt' | 'detect'
  /** What a mask leaves. */
  readonly shape: {
    readonly kind: 'whole' | 'keepFirst' | 'keepLast' | 'maskFirst'
    readonly count: number
  }
}

/** Values that are known by their form. */
export type LogPrivacyType = 'card' | 'iban' | 'tckn' | 'email' | 'phone' | 'jwt' | 'private-key' | 'aws-key'

export interface LogFilePlan {
  readonly dir: string
  /** All segments together; the oldest is removed. */
  readonly maxBytes: number
  /** A segment is closed at this size. */
  readonly segmentBytes: number
}
