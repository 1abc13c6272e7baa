import { visibleText } from '@sluice/core'
import type { AnswerPart } from '../admin/answer-part.js'
import { controllerClient } from '../control/controller-client.js'
import type { OutputOptions, ServerOptions } from '../input/options.js'
import { Failure, usageError } from '../output/failure.js'
import { print, printResult, printTable, printText, say } from '../output/output.js'
import { kept, minor } from '../output/table.js'
import { ageText } from '../output/text.js'

interface CreateOptions extends OutputOptions, ServerOptions {
  readonly role?: string
  readonly group?: readonly string[]
  readonly team?: string
  readonly routes?: readonly string[]
}

/** Creates a token and prints it. */
export async function createToken(
  { role, group: groups = ['*'], team, routes, ...options }: CreateOptions,
  name: string,
): Promise<void> {
  if (role === undefined)
    throw usageError('the role is missing: set --role to viewer, deployer, admin or member')
  if ((team === undefined) !== (routes === undefined)) throw usageError('--team and --routes belong together')
  const scope = team === undefined ? {} : { scope: { team, routes } }
  const part = await controllerClient(options).post('/v1/tokens', { name, role, groups, ...scope })
  await printResult(part.value, options.output, () => printText(`${part.text('text')}\n`))
  say('the controller stores only a digest of this token, so keep it')
}

/** Prints the tokens without their texts. */
export async function listTokens(options: OutputOptions & ServerOptions): Promise<void> {
  const { part } = await controllerClient(options).get('/v1/tokens')
  await printResult(part.value, options.output, () =>
    printTable(
      ['NAME', 'ROLE', 'GROUPS', minor('TEAM', 2), 'AGE', minor('BY', 1), kept('STATE')],
      part.parts('tokens').map(tokenRow),
      options.output,
    ),
  )
}

function tokenRow(token: AnswerPart): string[] {
  return [
    visibleText(token.text('name')),
    token.text('role'),
    token.texts('groups').join(', '),
    scopeText(token.partOrNull('scope')),
    ageText(Date.now() - Date.parse(token.text('createdAt'))),
    visibleText(token.text('createdBy')),
    token.flag('isRevoked') ? 'revoked' : 'valid',
  ]
}

function scopeText(scope: AnswerPart | null): string {
  return scope === null ? '-' : `${scope.text('team')}: ${scope.texts('routes').join(', ')}`
}

/** Revokes a token by its name. */
export async function revokeToken(options: OutputOptions & ServerOptions, name: string): Promise<void> {
  const client = controllerClient(options)
  const { part } = await client.get('/v1/tokens')
  const token = part.parts('tokens').find((one) => one.text('name') === name && !one.flag('isRevoked'))
  if (token === undefined) throw new Failure(`there is no valid token '${name}'; see gw control token list`)
  const answer = await client.send({ method: 'DELETE', path: `/v1/tokens/${token.text('token')}` })
  if (answer.status !== 204) throw client.refused(answer)
  await printResult({ name, token: token.text('token') }, options.output, () =>
    print(`revoked ${visibleText(name)}`),
  )
}

interface AuditOptions extends OutputOptions, ServerOptions {
  readonly group?: string
  readonly limit: number
}

/** Prints the newest entries of the audit trail, oldest first. */
export async function printAudit(options: AuditOptions): Promise<void> {
  const query = new URLSearchParams({ limit: String(options.limit) })
  if (options.group !== undefined) query.set('group', options.group)
  const { part } = await controllerClient(options).get(`/v1/audit?${query}`)
  await printResult(part.value, options.output, () =>
    printTable(
      ['ENTRY', kept('TIME'), kept('ACTION'), 'BY', minor('FROM', 1), 'DETAILS'],
      part.parts('entries').map(auditRow),
      options.output,
    ),
  )
}

function auditRow(entry: AnswerPart): string[] {
  const { seq, type, at, actor, address, controller: _, ...details } = entry.value
  const shown = Object.entries(details).map(([name, value]) => `${name}=${detailText(value)}`)
  return [String(seq), String(at), String(type), String(actor), String(address ?? '-'), shown.join(' ')].map(
    visibleText,
  )
}

function detailText(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return /^[0-9a-f]{64}$/.test(text) ? text.slice(0, 12) : text
}

/** Prints the groups with their committed deploys. */
export async function listGroups(options: OutputOptions & ServerOptions): Promise<void> {
  const { part } = await controllerClient(options).get('/v1/groups')
  await printResult(part.value, options.output, () =>
    printTable(
      ['GROUP', 'DEPLOY', 'GATEWAYS', 'CONNECTED', 'IN SYNC'],
      part.parts('groups').map(groupRow),
      options.output,
    ),
  )
}

function groupRow(group: AnswerPart): string[] {
  const head = group.partOrNull('head')
  const counts = ['members', 'connected', 'inSync'].map((name) => String(group.number(name)))
  return [visibleText(group.text('name')), head === null ? '-' : String(head.number('deploy')), ...counts]
}
