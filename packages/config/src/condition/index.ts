export {
  type Condition,
  type ConditionCheck,
  type ConditionNeeds,
  checkCondition,
  compileCondition,
  compileExpression,
} from './condition.js'
export { ConditionError } from './condition-error.js'
export type { ConditionIssue, ConditionScope } from './parser.js'
