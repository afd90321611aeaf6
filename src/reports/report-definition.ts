import * as z from 'zod';

/** Kinds of values that a report takes. `address` is raw or user-friendly, and becomes raw. */
export const paramTypes = ['text', 'integer', 'date', 'address', 'choice'] as const;

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
  /** Tables that the report can do without: no notice where they were not exported. */
  optional: z.array(z.string()).optional(),
  /** Parameter that says what the report is about; its value stands beside the title. */
  subject: z.string().optional(),
  /** Select whose one row has `first_time` and `last_time`, which the head shows; without it those of the blocks that are held. */
  period: z.string().optional(),
});

const label = z.string().min(1);

const chartSchema = z
  .strictObject({
    mark: z.enum(['bar', 'barX', 'line', 'area', 'dot']),
    x: label,
    y: label,
    color: label.optional(),
    title: label,
    doc: label.optional(),
    xLabel: label.optional(),
    yLabel: label.optional(),
    scale: z.enum(['linear', 'log']).optional(),
    /** Whether the axis of a line or of dots begins at zero. */
    zero: z.boolean().optional(),
    /** Column that is true where a bar or point stands for less than it says: drawn pale or hollow. */
    partial: label.optional(),
    height: z.number().int().min(80).max(1200).optional(),
  })
  .refine(({ mark, scale }) => scale !== 'log' || mark === 'line' || mark === 'dot', {
    path: ['scale'],
    message: 'linear, because bars and areas have no log scale,',
  });

const tableSchema = z.strictObject({
  title: label,
  doc: label.optional(),
  columns: z.array(label).min(1).optional(),
  labels: z.record(z.string(), label).optional(),
  /** Columns whose numbers are names, such as seqnos: shown without groups of three. */
  ids: z.array(label).min(1).optional(),
  limit: z.number().int().min(1).max(10_000).optional(),
  empty: label.optional(),
});

const figuresSchema = z.strictObject({
  title: label,
  doc: label.optional(),
  columns: z.array(label).min(1).optional(),
  labels: z.record(z.string(), label).optional(),
  /** Select whose one row has the same columns for the period before: each number tells its change. */
  before: label.optional(),
});

export const directiveSchemas = { chart: chartSchema, table: tableSchema, figures: figuresSchema } as const;

export type DirectiveKind = keyof typeof directiveSchemas;
export type FrontMatter = Readonly<z.infer<typeof frontSchema>>;
export type ParamDef = Readonly<z.infer<typeof paramSchema>>;
export type ChartDef = Readonly<z.infer<typeof chartSchema>>;
export type TableView = Readonly<z.infer<typeof tableSchema>>;
export type FiguresDef = Readonly<z.infer<typeof figuresSchema>>;

/** A select of a report; later blocks may read its rows by its id. */
export interface SqlBlock {
  readonly id: string;
  /** Whether its single row becomes the variables, which blocks below read as getvariable('name'). */
  readonly isVariables: boolean;
  readonly sql: string;
  /** Line of the fence, from 1; the select begins on the next. */
  readonly line: number;
}

/** Shows the rows of a block. */
export type Directive =
  | { readonly kind: 'chart'; readonly of: string; readonly line: number; readonly def: ChartDef }
  | { readonly kind: 'table'; readonly of: string; readonly line: number; readonly def: TableView }
  | { readonly kind: 'figures'; readonly of: string; readonly line: number; readonly def: FiguresDef };

/** What stands in a report from top to bottom, its selects apart. */
export type ReportPart = { readonly kind: 'prose'; readonly text: string } | Directive;

/** A report as its file tells it. */
export interface ReportDef {
  /** Of its folder, or of its file without `.md`. */
  readonly name: string;
  /** As it is shown to people. */
  readonly path: string;
  readonly front: FrontMatter;
  readonly blocks: readonly SqlBlock[];
  readonly parts: readonly ReportPart[];
}
