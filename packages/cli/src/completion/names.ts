import type { Command } from 'commander'
import { AdminClient } from '../admin/admin-client.js'
import type { AnswerPart } from '../admin/answer-part.js'
import { controllerClient, groupPath } from '../control/controller-client.js'
import type { ServerOptions } from '../input/options.js'

/** Timeout in milliseconds, short because the user waits for the completion. */
const TIMEOUT_MS = 1000

/** Returns names for a place. @param before values of the arguments before it @param group value of `--group` */
type Names = (
  options: ServerOptions,
  before: readonly string[],
  group: string | null,
) => Promise<readonly string[]>

const routeIds = listOf('/v1/routes', 'routes', 'id')
const upstreamNames = listOf('/v1/upstreams', 'upstreams', 'name')
const gatewayDeploys = listOf('/v1/deploys', 'deploys', 'id')
const groupNames: Names = (options) =>
  listed(controllerClient(options), '/v1/groups', (answer) => texts(answer, 'groups', 'name'))
const deploys: Names = (options, before, group) =>
  group === null ? gatewayDeploys(options, before, group) : groupDeploys(options, group)
const nothing: Names = () => Promise.resolve([])

/** Sources of names that are not in the command tree, by argument or option. */
const SOURCES: Readonly<Record<string, Names>> = {
  'gw routes show id': routeIds,
  'gw upstream health name': upstreamNames,
  'gw upstream drain name': upstreamNames,
  'gw upstream undrain name': upstreamNames,
  'gw upstream drain target': targetUrls,
  'gw upstream undrain target': targetUrls,
  'gw show deploy': deploys,
  'gw limits get policy': listOf('/v1/limits', 'counts', 'policy'),
  'gw limits reset policy': listOf('/v1/limits', 'counts', 'policy'),
  'gw quota get policy': listOf('/v1/quotas', 'counts', 'policy'),
  'gw quota reset policy': listOf('/v1/quotas', 'counts', 'policy'),
  'gw quota set policy': listOf('/v1/quotas', 'counts', 'policy'),
  'gw lint --disable': ruleNames,
  'gw lint --explain': ruleNames,
  'gw policy doc name': policyNames,
  'gw bench policy name': policyNames,
  'gw bench list suite': suiteNames,
  'gw bench run suite': suiteNames,
  'gw rollback --to': deploys,
  'gw diff --from': deploys,
  'gw diff --to': deploys,
  'gw start --group': nothing,
  'gw consumer add --group': nothing,
  'gw consumer set --group': nothing,
  '--group': groupNames,
  '--route': routeIds,
  '--api': (options) => listed(new AdminClient(options), '/v1/routes', apiNames),
  '--code': errorNames,
}

/**
 * Returns the names for an argument or option: of policies, suites, or objects of the running gateway. Empty
 * if the gateway is unreachable.
 */
export async function namesFor(
  command: Command,
  what: { readonly option: string | null; readonly operands: readonly string[] },
  words: readonly string[],
): Promise<readonly string[]> {
  const argument = command.registeredArguments[what.operands.length]?.name() ?? ''
  const source = SOURCES[`${pathOf(command)} ${what.option ?? argument}`] ?? SOURCES[what.option ?? '']
  if (source === undefined) return []
  const names = await source(serverOptions(words), what.operands, optionValue(words, '--group')).catch(
    () => [],
  )
  return [...new Set(names)]
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
}

function serverOptions(words: readonly string[]): ServerOptions {
  const [server, tokenFile] = [optionValue(words, '--server'), optionValue(words, '--token-file')]
  return { ...(server === null ? {} : { server }), ...(tokenFile === null ? {} : { tokenFile }) }
}

function optionValue(words: readonly string[], option: string): string | null {
  const joined = words.find((word) => word.startsWith(`${option}=`))
  if (joined !== undefined) return joined.slice(option.length + 1)
  const at = words.indexOf(option)
  return at === -1 ? null : (words[at + 1] ?? null)
}

async function listed(
  client: AdminClient,
  path: string,
  read: (answer: AnswerPart) => readonly string[],
): Promise<readonly string[]> {
  return read(client.parsed(await client.send({ method: 'GET', path, timeoutMs: TIMEOUT_MS })))
}

function listOf(path: string, list: string, member: string): Names {
  return (options) => listed(new AdminClient(options), path, (answer) => texts(answer, list, member))
}

function groupDeploys(options: ServerOptions, group: string): Promise<readonly string[]> {
  return listed(controllerClient(options), `${groupPath(group)}/deploys?limit=100`, (answer) =>
    answer.parts('deploys').map((deploy) => String(deploy.number('deploy'))),
  )
}

function targetUrls(options: ServerOptions, [upstream]: readonly string[]): Promise<readonly string[]> {
  return listed(new AdminClient(options), '/v1/upstreams', (answer) =>
    answer
      .parts('upstreams')
      .filter((each) => each.text('name') === upstream)
      .flatMap((each) => texts(each, 'targets', 'url')),
  )
}

function texts(answer: AnswerPart, list: string, member: string): readonly string[] {
  return answer.parts(list).map((part) => part.text(member))
}

function apiNames(answer: AnswerPart): readonly string[] {
  const named = answer
    .parts('routes')
    .filter(({ value }) => value['api'] !== null && value['api'] !== undefined)
  return named.map((route) => route.part('api').text('name'))
}

async function errorNames(): Promise<readonly string[]> {
  const [{ errorCodes }] = await Promise.all([import('@sluice/core'), import('@sluice/policies/errors')])
  return errorCodes()
}

async function policyNames(): Promise<readonly string[]> {
  return [...(await import('@sluice/policies')).catalog.keys()]
}

async function ruleNames(): Promise<readonly string[]> {
  return (await import('@sluice/config/authoring')).LINT_RULES.map(({ id }) => id)
}

/** Returns the names of benchmark suites. Only called if the package is installed. */
async function suiteNames(): Promise<readonly string[]> {
  const name: string = '@sluice/bench/suites'
  const { suites } = (await import(name)) as { readonly suites: readonly { readonly name: string }[] }
  return suites.map((suite) => suite.name)
}
