/** Options for the syslog output. */
export interface SyslogOptions {
  /** Receiver: `udp://host:514`, `tcp://host:601` or `tls://host:6514`. The port is optional. */
  readonly address: string
  readonly facility: FacilityName
  readonly appName: string
  /** SD-ID of the structured data: a name, `@` and a private enterprise number (RFC 5424 section 7.2.2). */
  readonly structuredDataId: string
  /** Maximum message size in bytes. Longer messages are refused. */
  readonly maxMessageBytes: number
  readonly tls: SyslogTlsOptions
}

/** TLS options for the connection to the receiver. All files are PEM. */
export interface SyslogTlsOptions {
  /** Certificate authorities to trust instead of the system's, or null. */
  readonly caFile: string | null
  /** Client certificate and key for mutual TLS, or null. */
  readonly certFile: string | null
  readonly keyFile: string | null
  /** True if any server certificate is accepted. */
  readonly insecure: boolean
}

/** Facilities by number (RFC 5424 section 6.2.1). */
export const FACILITIES = [
  'kern',
  'user',
  'mail',
  'daemon',
  'auth',
  'syslog',
  'lpr',
  'news',
  'uucp',
  'cron',
  'authpriv',
  'ftp',
  'ntp',
  'audit',
  'alert',
  'clock',
  'local0',
  'local1',
  'local2',
  'local3',
  'local4',
  'local5',
  'local6',
  'local7',
] as const

/** Name of a syslog facility. */
export type FacilityName = (typeof FACILITIES)[number]

/** Address of a syslog receiver. */
export interface SyslogAddress {
  readonly transport: 'udp' | 'tcp' | 'tls'
  readonly host: string
  readonly port: number
}

/** Default ports by transport, as assigned by IANA. */
const PORTS = { udp: 514, tcp: 601, tls: 6514 } as const

/** Parses `transport://host:port`. @throws Error if the text has another format. */
export function parseSyslogAddress(text: string): SyslogAddress {
  const { protocol, hostname, port } = new URL(text)
  const transport = protocol.slice(0, -1)
  if (transport !== 'udp' && transport !== 'tcp' && transport !== 'tls')
    throw new Error(`'${protocol}' is not a syslog transport; use udp:, tcp: or tls:`)
  return {
    transport,
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? PORTS[transport] : Number(port),
  }
}

/** Transport of messages to a receiver, including their framing. */
export interface SyslogTransport {
  /**
   * Sends messages. Resolves when they count as delivered. @throws Error with the reason, for the operator.
   */
  send(messages: readonly Buffer[]): Promise<void>
  close(): void
}
