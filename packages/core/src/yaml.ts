export { linkAliases } from './yaml/alias.js'
export type { Position } from './yaml/positions.js'
export type { SourceIssue } from './yaml/source-issue.js'
export { MAX_LENGTH, readYaml, type YamlSource } from './yaml/yaml-source.js'
