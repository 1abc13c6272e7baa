/** A parsed syslog message (RFC 5424 section 6). */
export interface SyslogMessage {
  readonly facility: number
  readonly severity: number
  readonly timestamp: string
  readonly host: string
  readonly app: string
  readonly process: string
  readonly messageId: string
  readonly data: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly text: string
}

const HEAD = new RegExp(
  '^<(0|[1-9]\\d?|1[0-8]\\d|19[01])>1 ' +
    '(-|\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,6})?(?:Z|[+-]\\d\\d:\\d\\d)) ' +
    '([!-~]{1,255}) ([!-~]{1,48}) ([!-~]{1,128}) ([!-~]{1,32}) ',
)
const NAME = '[!#-<>-\\\\^-~]{1,32}'
const PARAMETER = new RegExp(`^ (${NAME})="((?:[^"\\\\\\]]|\\\\["\\\\\\]])*)"`)
const UTF8 = new TextDecoder('utf-8', { fatal: true })

/** Parses a message strictly by the grammar. @throws Error if it is invalid. */
export function parseSyslog(bytes: Buffer): SyslogMessage {
  const text = UTF8.decode(bytes)
  const head = HEAD.exec(text)
  if (head === null) throw new Error(`not the head of a message: ${text.slice(0, 120)}`)
  const { data, rest } = parseData(text.slice(head[0].length))
  if (rest !== '' && rest[0] !== ' ') throw new Error(`no space before the message: ${rest.slice(0, 40)}`)
  const priority = Number(head[1])
  return {
    facility: priority >> 3,
    severity: priority & 7,
    timestamp: head[2]!,
    host: head[3]!,
    app: head[4]!,
    process: head[5]!,
    messageId: head[6]!,
    data,
    text: rest.slice(1),
  }
}

function parseData(text: string): { data: Record<string, Record<string, string>>; rest: string } {
  const data: Record<string, Record<string, string>> = {}
  let rest = text
  if (rest[0] === '-') return { data, rest: rest.slice(1) }
  if (rest[0] !== '[') throw new Error('no structured data')
  while (rest[0] === '[') {
    const name = new RegExp(`^\\[(${NAME})`).exec(rest)
    if (name === null || Object.hasOwn(data, name[1]!)) throw new Error('no name of structured data')
    const parameters: Record<string, string> = {}
    data[name[1]!] = parameters
    rest = rest.slice(name[0].length)
    for (let match = PARAMETER.exec(rest); match !== null; match = PARAMETER.exec(rest)) {
      parameters[match[1]!] = match[2]!.replace(/\\(.)/g, '$1')
      rest = rest.slice(match[0].length)
    }
    if (rest[0] !== ']') throw new Error(`structured data does not end: ${rest.slice(0, 40)}`)
    rest = rest.slice(1)
  }
  return { data, rest }
}

/**
 * Splits a stream by octet counting (RFC 6587 section 3.4.1): a length without leading zeros, a space, the
 * message.
 */
export class OctetCounting {
  #rest: Buffer = Buffer.alloc(0)

  /** Adds bytes and returns the completed messages. @throws Error if a length is invalid. */
  take(chunk: Buffer): Buffer[] {
    this.#rest = Buffer.concat([this.#rest, chunk])
    const messages: Buffer[] = []
    for (;;) {
      const space = this.#rest.indexOf(0x20)
      if (space === -1 && this.#rest.length < 10) return messages
      const length = this.#rest.toString('latin1', 0, space)
      if (!/^[1-9]\d{0,8}$/.test(length)) throw new Error(`no length of a message: ${length.slice(0, 40)}`)
      const end = space + 1 + Number(length)
      if (this.#rest.length < end) return messages
      messages.push(this.#rest.subarray(space + 1, end))
      this.#rest = this.#rest.subarray(end)
    }
  }
}
