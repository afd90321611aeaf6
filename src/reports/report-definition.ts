import * as z from 'zod';

/** Types of parameters. `address` is raw or user-friendly, and converted to raw. */
const paramTypes = ['text', 'integer', 'date', 'address', 'choice'] as const;

const paramSchema = z.strictObject({
  type: z.enum(paramTypes),
  doc: z.string().min(1),
  default: z.union([z.string(), z.number().int()]).optional(),
  required: z.boolean().optional(),
  choices: z.array(z.string()).min(1).optional(),
});

export const frontSchema = z.strictObject({
  title: z.string().min(1),
  doc: z.string().min(1),
  params: z.record(z.string(), paramSchema).optional(),
  /** Tables and marts that may be missing, without a notice in the report. */
  optional: z.array(z.string()).optional(),
  /** Parameter with the subject of the report, whose value is shown next to the title. */
  subject: z.string().optional(),
  /** Select with `first_time` and `last_time` for the heading. Default: those of the blocks in the warehouse. */
  period: z.string().optional(),
});

const label = z.string().min(1);

const chartSchema = z
  .strictObject({
    mark: z.enum(['bar', 'barX', 'line', 'area', 'dot']),
    x: label,
    /** Several columns are a series each. */
    y: z.union([label.transform((name) => [name]), z.array(label).min(1)]),
    color: label.optional(),
    title: label,
    doc: label.optional(),
    xLabel: label.optional(),
    yLabel: label.optional(),
    scale: z.enum(['linear', 'log']).optional(),
    /** True if the axis of a line or of dots starts at zero. */
    zero: z.boolean().optional(),
    /** Column that is true for incomplete bars or points, which are drawn pale or hollow. */
    partial: label.optional(),
    height: z.number().int().min(80).max(1200).optional(),
  })
  .refine(({ mark, scale }) => scale !== 'log' || mark === 'line' || mark === 'dot', {
    path: ['scale'],
    message: 'linear, because bars and areas have no log scale,',
  })
  .refine(({ mark, y }) => mark !== 'barX' || y.length === 1, {
    path: ['y'],
    message: 'one column, because barX has names along y,',
  });

const tableSchema = z.strictObject({
  title: label,
  doc: label.optional(),
  columns: z.array(label).min(1).optional(),
  labels: z.record(z.string(), label).optional(),
  /** Columns whose numbers are identifiers, such as seqnos: shown without digit groups. */
  ids: z.array(label).min(1).optional(),
  limit: z.number().int().min(1).max(10_000).optional(),
  empty: label.optional(),
});

const figuresSchema = z.strictObject({
  title: label,
  doc: label.optional(),
  columns: z.array(label).min(1).optional(),
  labels: z.record(z.string(), label).optional(),
  /** Select with the same columns for the previous period, to show changes. */
  before: label.optional(),
});

export const directiveSchemas = { chart: chartSchema, table: tableSchema, figures: figuresSchema } as const;

export type DirectiveKind = keyof typeof directiveSchemas;
export type FrontMatter = Readonly<z.infer<typeof frontSchema>>;
export type ParamDef = Readonly<z.infer<typeof paramSchema>>;
export type ChartDef = Readonly<z.infer<typeof chartSchema>>;
export type TableView = Readonly<z.infer<typeof tableSchema>>;
type FiguresDef = Readonly<z.infer<typeof figuresSchema>>;

/** A select of a report; later blocks can read its rows by id. */
export interface SqlBlock {
  readonly id: string;
  /** True if its single row sets variables, which later blocks read with getvariable('name'). */
  readonly isVariables: boolean;
  readonly sql: string;
  /** Line of the fence, from 1; the select starts on the next. */
  readonly line: number;
}

interface DirectiveOf<Kind extends DirectiveKind, Def> {
  readonly kind: Kind;
  /** Id of the block whose rows it shows. */
  readonly of: string;
  /** Line of the fence, from 1. */
  readonly line: number;
  readonly def: Def;
}

export type ChartDirective = DirectiveOf<'chart', ChartDef>;
export type TableDirective = DirectiveOf<'table', TableView>;
export type FiguresDirective = DirectiveOf<'figures', FiguresDef>;

/** A chart, table or figures with the rows of a block. */
export type Directive = ChartDirective | TableDirective | FiguresDirective;

/** The shown parts of a report, from top to bottom. */
export type ReportPart = { readonly kind: 'prose'; readonly text: string } | Directive;

/** A parsed report file. */
export interface ReportDef {
  /** Name of its folder, or of its file without `.md`. */
  readonly name: string;
  /** As shown in messages. */
  readonly path: string;
  readonly front: FrontMatter;
  readonly blocks: readonly SqlBlock[];
  readonly parts: readonly ReportPart[];
}
