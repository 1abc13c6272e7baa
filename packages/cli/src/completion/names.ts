import type { Command } from 'commander'
import { AdminClient } from '../admin/admin-client.js'
import type { AnswerPart } from '../admin/answer-part.js'
import type { ServerOptions } from '../input/options.js'

/** Timeout in milliseconds, short because the user waits for the completion. */
const TIMEOUT_MS = 1000

type Names = (options: ServerOptions) => Promise<readonly string[]>

const upstreamNames: Names = (options) =>
  listed(options, '/v1/upstreams', (answer) => texts(answer, 'upstreams', 'name'))

/** Sources of names that are not in the command tree, by argument or option. */
const SOURCES: Readonly<Record<string, Names>> = {
  'gw routes show id': (options) => listed(options, '/v1/routes', (answer) => texts(answer, 'routes', 'id')),
  'gw upstream health name': upstreamNames,
  'gw upstream drain name': upstreamNames,
  'gw upstream undrain name': upstreamNames,
  'gw policy doc name': policyNames,
  'gw bench policy name': policyNames,
  'gw bench list suite': suiteNames,
  'gw bench run suite': suiteNames,
  '--route': (options) => listed(options, '/v1/routes', (answer) => texts(answer, 'routes', 'id')),
  '--api': (options) => listed(options, '/v1/routes', apiNames),
  '--code': errorNames,
}

/**
 * Returns the names for an argument or option: of policies, suites, or objects of the running gateway. Empty
 * if the gateway is unreachable.
 */
export async function namesFor(
  command: Command,
  what: { readonly option: string | null; readonly operands: number },
  words: readonly string[],
): Promise<readonly string[]> {
  const argument = command.registeredArguments[what.operands]?.name() ?? ''
  const source = SOURCES[what.option ?? `${pathOf(command)} ${argument}`]
  if (source === undefined) return []
  return source(serverOptions(words)).catch(() => [])
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
  options: ServerOptions,
  path: string,
  read: (answer: AnswerPart) => readonly string[],
): Promise<readonly string[]> {
  const client = new AdminClient(options)
  return read(client.parsed(await client.send({ method: 'GET', path, timeoutMs: TIMEOUT_MS })))
}

function texts(answer: AnswerPart, list: string, member: string): readonly string[] {
  return answer.parts(list).map((part) => part.text(member))
}

function apiNames(answer: AnswerPart): readonly string[] {
  const named = answer
    .parts('routes')
    .filter(({ value }) => value['api'] !== null && value['api'] !== undefined)
  return [...new Set(named.map((route) => route.part('api').text('name')))]
}

async function errorNames(): Promise<readonly string[]> {
  const [{ errorCodes }] = await Promise.all([import('@sluice/core'), import('@sluice/policies/errors')])
  return errorCodes()
}

async function policyNames(): Promise<readonly string[]> {
  return [...(await import('@sluice/policies')).catalog.keys()]
}

/** Returns the names of benchmark suites. Only called if the package is installed. */
async function suiteNames(): Promise<readonly string[]> {
  const name: string = '@sluice/bench/suites'
  const { suites } = (await import(name)) as { readonly suites: readonly { readonly name: string }[] }
  return suites.map((suite) => suite.name)
}
