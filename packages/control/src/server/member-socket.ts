import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import {
  GROUP_PATTERN,
  LEAVING_CODE,
  MAX_MEMBER_MESSAGE_BYTES,
  MEMBERS_PATH,
  type MemberMessage,
  PROTOCOL_VERSION,
  parseMemberMessage,
} from '@sluice/control-client'
import { type WebSocket, WebSocketServer } from 'ws'
import type { ConnectedMembers, MemberConnection } from '../deploy/connected-members.js'
import type { KnownMember } from '../deploy/fleet.js'
import type { FleetReports } from '../deploy/fleet-reports.js'
import type { Hello } from '../deploy/member-session.js'
import type { ControlLog } from '../state/control-log.js'
import { type Authenticator, type Caller, certificateCaller, mayUseGroup, requireRole } from './access.js'
import { clientCertificate, refuseBrowsers } from './http-server.js'
import { ControlProblem } from './problem.js'
import { WebSocketLink } from './web-socket-link.js'

const HELLO_MS = 10_000
const PING_MS = 10_000
/** Interval of reports that members are asked for, in milliseconds. */
const REPORT_MS = 5000
/** Maximum number of messages that a member may send per ping interval. */
const MAX_MESSAGES = 2000
const GROUP_NAME = new RegExp(GROUP_PATTERN)

/** Options of the endpoint for members. */
export interface MemberSocketOptions {
  readonly members: ConnectedMembers
  readonly fleet: Pick<FleetReports, 'members'>
  readonly log: ControlLog
  readonly authenticator: Authenticator
  readonly hosts: readonly string[]
  /** Id of the store. */
  readonly store: string
  /** Maximum number of connections. */
  readonly maxMembers: number
  /** Maximum number of known members per token or certificate, and half the maximum number of its connections. */
  readonly maxMembersPerToken: number
  readonly onEvent: (event: string, fields: Readonly<Record<string, unknown>>) => void
}

interface Client {
  readonly caller: Caller
  readonly socket: WebSocket
  connection: MemberConnection | null
  messages: number
  isAlive: boolean
}

/** The WebSocket endpoint that gateways connect to. */
export class MemberSocket {
  readonly #options: MemberSocketOptions
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MEMBER_MESSAGE_BYTES,
    perMessageDeflate: false,
  })
  readonly #clients = new Set<Client>()
  readonly #timer: NodeJS.Timeout

  constructor(options: MemberSocketOptions) {
    this.#options = options
    options.log.onChange(() => this.#closeRevoked())
    this.#timer = setInterval(() => this.#ping(), PING_MS).unref()
  }

  /** Handles the upgrade requests of a server. */
  attach(server: Server): void {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on('error', () => socket.destroy())
      try {
        const caller = this.#admit(request)
        this.#server.handleUpgrade(request, socket, head, (opened) => this.#open(opened, caller))
      } catch (error) {
        const status = error instanceof ControlProblem ? error.status : 500
        const headers = 'connection: close\r\ncontent-length: 0\r\n\r\n'
        socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}`)
      }
    })
  }

  close(): void {
    clearInterval(this.#timer)
    for (const { socket } of this.#clients) socket.terminate()
    this.#server.close()
  }

  /** @throws ControlProblem if the client may not connect */
  #admit({ url, headers, socket }: IncomingMessage): Caller {
    const { authenticator, hosts, maxMembers, maxMembersPerToken } = this.#options
    refuseBrowsers(headers, hosts)
    if (url !== MEMBERS_PATH) throw new ControlProblem('GW_CONTROL_NOT_FOUND', `use ${MEMBERS_PATH}`)
    const { authorization = '' } = headers
    const address = socket.remoteAddress ?? ''
    const certificate = authorization === '' ? clientCertificate(socket) : null
    const caller =
      (certificate && certificateCaller(certificate, address)) ??
      authenticator.authenticate({ address, authorization })
    requireRole(caller, 'member')
    if (this.#clients.size >= maxMembers) throw new ControlProblem('GW_CONTROL_BUSY', 'too many members')
    const owned = [...this.#clients].filter((client) => ownerOf(client.caller) === ownerOf(caller))
    // After a network outage, the lost connections of all members are still open.
    if (owned.length >= 2 * maxMembersPerToken)
      throw new ControlProblem('GW_CONTROL_BUSY', 'too many connections with this token')
    return caller
  }

  #open(socket: WebSocket, caller: Caller): void {
    const client: Client = { caller, socket, connection: null, messages: 0, isAlive: true }
    this.#clients.add(client)
    const timer = setTimeout(() => socket.close(1008, 'no hello'), HELLO_MS).unref()
    socket.on('pong', () => {
      client.isAlive = true
    })
    socket.on('error', () => socket.terminate())
    socket.on('close', (code) => {
      clearTimeout(timer)
      this.#clients.delete(client)
      client.connection?.closed(code === LEAVING_CODE)
    })
    socket.on('message', (content: Buffer, isBinary: boolean) => {
      const message = isBinary ? null : parseMemberMessage(content.toString())
      if (message === null) socket.close(1008, 'invalid message')
      else if (++client.messages > MAX_MESSAGES) socket.close(1008, 'too many messages')
      else {
        clearTimeout(timer)
        this.#receive(client, message)
      }
    })
  }

  #receive(client: Client, message: MemberMessage): void {
    const { connection, socket, caller } = client
    if (connection !== null) {
      connection.receive(message)
      return
    }
    if (socket.readyState !== socket.OPEN) return
    const refusal =
      message.type === 'hello' ? this.#refusalOf(message, caller) : 'the first message must be hello'
    if (message.type !== 'hello' || refusal !== null) {
      this.#options.onEvent('member.refused', {
        address: caller.address,
        actor: caller.actor,
        reason: refusal,
      })
      socket.close(1008, refusal ?? '')
      return
    }
    const link = new WebSocketLink(socket)
    link.send({
      type: 'welcome',
      protocol: PROTOCOL_VERSION,
      store: this.#options.store,
      reportMs: REPORT_MS,
    })
    client.connection = this.#options.members.connect(message, link, ownerOf(caller))
    const { name, group, member, version } = message
    const fields = { member, name, group, version, address: caller.address, actor: caller.actor }
    this.#options.onEvent(client.connection.isReconnect ? 'member.replaced' : 'member.connected', fields)
  }

  #refusalOf(hello: Hello, caller: Caller): string | null {
    const { fleet, maxMembersPerToken } = this.#options
    const owner = ownerOf(caller)
    return refusalOf(hello, caller) ?? overuseOf(hello, { owner, known: fleet.members(), maxMembersPerToken })
  }

  #ping(): void {
    for (const client of this.#clients) {
      if (!client.isAlive) client.socket.terminate()
      client.isAlive = false
      client.messages = 0
      client.socket.ping()
    }
  }

  #closeRevoked(): void {
    const { tokens } = this.#options.log.state
    for (const { caller, socket } of this.#clients)
      if (caller.token !== null && tokens.get(caller.token)?.isRevoked !== false)
        socket.close(1008, 'the token was revoked')
  }
}

/** Returns the reason why a member is refused, or null. At most 123 bytes, the limit of a close frame. */
function refusalOf({ protocol, group }: Hello, caller: Caller): string | null {
  if (protocol !== PROTOCOL_VERSION)
    return `the controller speaks version ${PROTOCOL_VERSION} of the protocol, not ${protocol}`
  if (!GROUP_NAME.test(group)) return 'the name of the group is invalid'
  return mayUseGroup(caller, group) ? null : 'the token is not for this group'
}

interface Ownership extends Pick<MemberSocketOptions, 'maxMembersPerToken'> {
  readonly owner: string
  readonly known: readonly KnownMember[]
}

/**
 * Returns the reason why a token may not add this member, or null. A stolen one must not take the place of connected
 * members of others, or prevent quorums with members that do not exist.
 */
function overuseOf({ group, member }: Hello, { owner, known, maxMembersPerToken }: Ownership): string | null {
  const same = known.find((one) => one.group === group && one.member === member)
  if (same?.owner === owner) return null
  if (same?.isConnected) return 'this member is connected with another token'
  const owned = known.filter((one) => one.owner === owner)
  return owned.length < maxMembersPerToken
    ? null
    : `the token has ${owned.length} known members, the maximum; see gw fleet forget`
}

function ownerOf({ token, actor }: Caller): string {
  return token ?? actor
}
