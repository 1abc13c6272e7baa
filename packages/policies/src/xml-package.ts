import { Type } from '@sinclair/typebox'
import { type BodyLanguage, definePolicy, type Policy } from '@sluice/core'

/** Exports of the optional package with the XML policies. */
interface XmlPackage {
  readonly policies: Readonly<Record<string, () => Promise<Policy>>>
  readonly xmlLanguage: BodyLanguage
}

/** Name of the package. It is a variable, because this package does not depend on it. */
const PACKAGE: string = '@sluice/policies-xml'
const REMEDY = `which is not installed: run npm install ${PACKAGE}`

let loading: Promise<XmlPackage | null> | null = null

/** Loads the package. Returns null if it is not installed. */
function loadXmlPackage(): Promise<XmlPackage | null> {
  loading ??= importPackage()
  return loading
}

async function importPackage(): Promise<XmlPackage | null> {
  try {
    return (await import(PACKAGE)) as XmlPackage
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ERR_MODULE_NOT_FOUND' && message.includes(`'${PACKAGE}'`)) return null
    throw error
  }
}

/**
 * Returns a policy of the package. If it is not installed, returns a policy that accepts any configuration and whose
 * compilation fails, so that a document with it is refused with the remedy.
 */
export async function xmlPolicy(name: string): Promise<Policy> {
  const found = await loadXmlPackage()
  return found === null ? missingPolicy(name) : found.policies[name]!()
}

function missingPolicy(name: string): Policy {
  return definePolicy({
    name,
    summary: `Needs the package ${PACKAGE}, ${REMEDY}.`,
    schema: Type.Object({}, { additionalProperties: true, description: `Needs the package ${PACKAGE}.` }),
    cost: 'cpu',
    compile() {
      throw new Error(`the policy '${name}' needs the package ${PACKAGE}, ${REMEDY}`)
    },
  })
}

let language: BodyLanguage | null = null

/** The body language of conditions on XML, loaded with the package. */
export const xmlLanguage: BodyLanguage = {
  async load() {
    language ??= (await loadXmlPackage())?.xmlLanguage ?? MISSING_LANGUAGE
    await language.load()
  },
  get isLoaded() {
    return language?.isLoaded ?? false
  },
  compile: (path, names) => loadedLanguage().compile(path, names),
  compileStreaming: (path, names) => loadedLanguage().compileStreaming(path, names),
}

function loadedLanguage(): BodyLanguage {
  if (language === null) throw new Error('the body language xml is not loaded; await load() while compiling')
  return language
}

/** Refuses every path, if the package is not installed. */
const MISSING_LANGUAGE: BodyLanguage = {
  async load() {},
  isLoaded: true,
  compile() {
    throw new Error(`conditions on req.body.xml need the package ${PACKAGE}, ${REMEDY}`)
  },
  compileStreaming: () => null,
}
