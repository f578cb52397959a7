-- needs: fpb/stack.sql, charts/cells.sql
-- The Combat Results Table of fpb (Forgotten Pacific Battles): its terrain lines and its columns, 8.1.4, 8.2.1, 8.2.2, 12.3.
--
-- Line 1 is the best for the defender. Which line a terrain has, attacked on the level, over a river or over a
-- bridge, are cells of a chart; here is which of its terrains a hex offers, and what the attackers cross.

create or replace function fpb._grounds(terrain text, features text[], reef boolean, plant text)
returns setof text
language sql immutable parallel safe rows 2
as $$
  with shown as (
    -- the sea of a coast or of a reef is no terrain to stand in
    select _grounds.terrain as code
    where _grounds.terrain <> 'sea' or fpb._all_sea(_grounds.terrain, _grounds.features)
    union
    select feature.code
    from unnest(_grounds.features) as feature (code)
    where feature.code in ('village', 'reef')
    union
    -- fpb-32 c: built up as a village is
    select 'village'
    where 'phosphate_plant' = any(_grounds.features) and _grounds.plant = 'c'
  ),
  counted as (
    select shown.code
    from shown
    where (shown.code <> 'reef' or _grounds.reef)
      -- fpb-32 b: clear, whatever else it shows
      and not ('phosphate_plant' = any(_grounds.features) and _grounds.plant = 'b')
  )
  select counted.code from counted
  union all
  select 'clear' where not exists (select from counted)
$$;

comment on function fpb._grounds(text, text[], boolean, text) is
'The terrains that a hex offers its defender, with its reef or without (8.2.2, 12.3), its Phosphate Plant as fpb-32 has it.';

drop type if exists fpb.approach cascade;
create type fpb.approach as (
  code text,
  at text,
  adjacent boolean,
  river boolean,
  bridged boolean,
  amphibious boolean
);

comment on type fpb.approach is
'An attacker as the defender''s hex sees it: over which side it comes, and whether from the sea.';

create or replace function fpb._road_crosses(map_id bigint, x integer, y integer)
returns boolean
language sql stable parallel safe
return exists (
  select
  from public.path
  cross join lateral generate_series(1, cardinality(path.qs) - 1) as link (n)
  where path.map_id = _road_crosses.map_id
    and path.kind = 'road'
    and path.qs[link.n] + path.qs[link.n + 1] = _road_crosses.x
    and path.rs[link.n] + path.rs[link.n + 1] = _road_crosses.y
);

comment on function fpb._road_crosses(bigint, integer, integer) is
'Whether a road goes over a hexside; over a river that is a bridge (8.2.2).';

create or replace function fpb._approaches(state positions.state, q integer, r integer, by text[])
returns setof fpb.approach
language sql stable rows 3
as $$
  select
    positions.spoken(named.name),
    positions.cell_label(state.map_id, place.q, place.r, _approaches.q, _approaches.r),
    lattice.distance(place.q, place.r, _approaches.q, _approaches.r) = 1,
    side.river,
    side.river and fpb._road_crosses(state.map_id, place.q + _approaches.q, place.r + _approaches.r),
    place.attributes ? 'assaulting' or fpb._all_sea(hex.terrain, hex.features)
  from unnest(_approaches.by) with ordinality as named (name, n)
  cross join lateral positions.place(state.position_id, named.name) as place
  inner join public.hex on hex.map_id = state.map_id and hex.q = place.q and hex.r = place.r
  cross join lateral (
    select exists (
      select
      from public.hexside
      where hexside.map_id = state.map_id
        and hexside.kind = 'river'
        and hexside.x = place.q + _approaches.q
        and hexside.y = place.r + _approaches.r
    ) as river
  ) as side
  order by named.n
$$;

comment on function fpb._approaches(positions.state, integer, integer, text[]) is
'How each attacker, a unit or the hex it would attack from, comes to the defender''s hex.';

create or replace function fpb._crossing(approaches fpb.approach[], readings jsonb)
returns text
language sql immutable parallel safe
as $$
  select
    case
      when count(*) > 0 and bool_and(approach.river) and not bool_or(approach.bridged) then 'river'
      when bool_and(approach.river) and bool_or(approach.bridged) then 'bridge'
      -- fpb-1 b: one over a bridge suffices
      when bool_or(approach.bridged) and readings ->> 'fpb-1' = 'b' then 'bridge'
      else 'plain'
    end
  from unnest(approaches) as approach
$$;

comment on function fpb._crossing(fpb.approach[], jsonb) is
'Whether an attack counts as over a river, over a bridge, or neither (8.2.2, fpb-1).';

create or replace function fpb._approach_steps(approaches fpb.approach[], readings jsonb)
returns setof rulings.ledger_step
language sql immutable rows 3
as $$
  select
    '8.2.2',
    null,
    approach.at,
    case when approach.bridged then 'bridge' when approach.river then 'river' else 'no river' end,
    case
      when approach.bridged then format('%s attacks over a bridge', approach.code)
      when approach.river then format('%s attacks over a river', approach.code)
      else format('%s attacks over dry ground', approach.code)
    end,
    -- fpb-1: some over a bridge, others dry
    case
      when bool_or(approach.bridged) over () and not bool_and(approach.river) over () and approach.bridged
        then 'fpb-1'
    end,
    approach.code,
    null::integer,
    null::jsonb
  from unnest(approaches) with ordinality as approach (code, at, adjacent, river, bridged, amphibious, n)
  where approach.adjacent
  order by approach.n
$$;

comment on function fpb._approach_steps(fpb.approach[], jsonb) is
'What each attacker crosses on its way into the defender''s hex (8.2.2).';

create or replace function fpb._ground_steps(
  label text, terrain text, features text[], reef boolean, bombardment boolean, crossing text, readings jsonb
)
returns setof rulings.ledger_step
language sql stable rows 4
as $$
  select
    coalesce(cell.rule, '8.2.2'),
    null,
    _ground_steps.label,
    coalesce('line ' || cell.value, 'unknown'),
    case
      when cell.value is null then format('the line of %s', replace(ground.code, '_', ' '))
      when cells.name = 'river' then format('%s over a river', replace(ground.code, '_', ' '))
      else replace(ground.code, '_', ' ')
    end,
    null,
    null,
    2 * cell.value::integer,
    null::jsonb
  from fpb._grounds(_ground_steps.terrain, _ground_steps.features, _ground_steps.reef, readings ->> 'fpb-32')
    as ground (code)
  -- fpb-2 weighs a bridge against the terrain itself
  cross join (select case _ground_steps.crossing when 'river' then 'river' else 'plain' end as name) as cells
  left join lateral charts.cell('fpb', 'combat_terrain_lines', ground.code, cells.name) as cell on true
  union all
  select
    entry.rule, null, _ground_steps.label, entry.effect, entry.note, entry.point, null, entry.halves, null
  from (
    values
    (
      (_ground_steps.terrain = 'reef' or 'reef' = any(_ground_steps.features)) and not _ground_steps.reef,
      '12.3', 'disregarded', 'the reef counts in amphibious assaults',
      case when _ground_steps.bombardment then 'fpb-49' end, null
    ),
    (
      (_ground_steps.terrain = 'reef' or 'reef' = any(_ground_steps.features))
      and _ground_steps.reef and _ground_steps.bombardment,
      '8.1.4', 'counts', 'the reef, under bombardment', 'fpb-49', null
    ),
    (_ground_steps.bombardment, '8.1.4', 'disregarded', 'hexsides, in a bombardment', null, null),
    (
      'phosphate_plant' = any(_ground_steps.features),
      '8.2.2', 'counts', 'the Phosphate Plant, which no line names', 'fpb-32', null
    ),
    (_ground_steps.crossing = 'bridge', '8.2.2', 'line 4', 'over a bridge', 'fpb-2', 8)
  ) as entry (speaks, rule, effect, note, point, halves)
  where entry.speaks
$$;

comment on function fpb._ground_steps(text, text, text[], boolean, boolean, text, jsonb) is
'The line that each terrain of the defender''s hex has, and what else bears on the choice (8.2.2, 12.3, 8.1.4).';

create or replace function fpb._line_verdict(steps rulings.ledger_step[], label text, crossing text, readings jsonb)
returns rulings.ledger_step
language plpgsql stable
as $$
declare
  verdict rulings.ledger_step;
  bar rulings.ledger_step;
  line integer;
begin
  -- 8.2.2: the terrain that is best for the defender; fpb-2 b: over a bridge its line and no other
  select step.halves / 2, step.note
  into line, verdict.note
  from unnest(steps) as step
  where step.halves is not null
    and (crossing <> 'bridge' or readings ->> 'fpb-2' = 'a' or step.note = 'over a bridge')
  order by step.halves, step.note collate "C"
  limit 1;
  select step.* into bar
  from unnest(steps) as step
  where step.effect = 'forbids' or (line is null and step.effect = 'unknown')
  order by step.effect, step.note collate "C"
  limit 1;
  if bar.effect is not null then
    line := null;
    verdict.note := bar.note;
  end if;
  verdict.rule := '8.2.2';
  verdict.at := label;
  verdict.effect := coalesce(bar.effect, 'line ' || line);
  verdict.facts := jsonb_build_object('line', line, 'why', verdict.note);
  return verdict;
end
$$;

comment on function fpb._line_verdict(rulings.ledger_step[], text, text, jsonb) is
'The best of the lines for the defender, and what gives it; none where the attack cannot be or the table is silent.';

create or replace function fpb.terrain_line(
  position_id bigint,
  at text,
  by text[] default '{}',
  bombardment boolean default false,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 6
as $$
#variable_conflict use_variable
declare
  state positions.state;
  target record;
  approaches fpb.approach[];
  crossing text;
  reef boolean;
  steps rulings.ledger_step[];
begin
  select * into state from positions.state(position_id, conditions, policy);
  select hex.* into target
  from positions.place(position_id, at) as place
  inner join public.hex on hex.map_id = state.map_id and hex.q = place.q and hex.r = place.r;
  if not found then
    raise exception 'no hex or unit % on the map of this position', at using errcode = 'no_data_found';
  end if;
  approaches := array(select approach from fpb._approaches(state, target.q, target.r, by) as approach);
  crossing := fpb._crossing(approaches, state.readings);
  reef := case
    when bombardment then state.readings ->> 'fpb-49' = 'a'
    -- 12.3: from land or reef beside it the reef is disregarded
    else coalesce((select bool_or(approach.amphibious) from unnest(approaches) as approach), true)
  end;
  steps := array(
    select row('8.2', null, target.label, 'forbids', format('%s is not beside the hex', approach.code), null, approach.code, null, null)::rulings.ledger_step
    from unnest(approaches) as approach
    where not approach.adjacent
  )
  || array(select step from fpb._approach_steps(approaches, state.readings) as step)
  || array(
    select step
    from fpb._ground_steps(target.label, target.terrain, target.features, reef, bombardment, crossing, state.readings) as step
  );
  return query select * from unnest(steps);
  return next fpb._line_verdict(steps, target.label, crossing, state.readings);
end
$$;

comment on function fpb.terrain_line(bigint, text, text[], boolean, jsonb, jsonb) is
'The line of the Combat Results Table for an attack on a hex by these units, or for a bombardment; the verdict last.';

create or replace function fpb._column(line integer, differential integer, readings jsonb)
returns integer
language plpgsql stable parallel safe
as $$
begin
  return (
    select cell.value::integer
    from charts.cells('fpb', 'combat_results_lines') as cell
    where cell.row_key = _column.line::text
      and cell.value ~ '^[0-9]+$'
      -- fpb-29: beyond its ends a line has its end columns; b: below it no attack is made
      and (cell.column_key::integer <= _column.differential or readings ->> 'fpb-29' = 'a')
    order by abs(cell.column_key::integer - _column.differential)
    limit 1
  );
end
$$;

comment on function fpb._column(integer, integer, jsonb) is
'The column of the Combat Results Table by terrain line and differential (8.2.1); null where fpb-29 b allows no attack.';

create or replace function fpb._beyond(line integer, differential integer)
returns text
language plpgsql stable parallel safe
as $$
declare
  lowest integer;
  highest integer;
begin
  select min(cell.column_key::integer), max(cell.column_key::integer) into lowest, highest
  from charts.cells('fpb', 'combat_results_lines') as cell
  where cell.row_key = _beyond.line::text and cell.value ~ '^[0-9]+$';
  return case
    when _beyond.differential < lowest then format('below %s, where the line begins', lowest)
    when _beyond.differential > highest then format('above +%s, where the line ends', highest)
  end;
end
$$;

comment on function fpb._beyond(integer, integer) is
'Whether a differential lies beyond an end of its line, and which (fpb-29).';

create or replace function fpb._odds(results text[])
returns jsonb
language sql immutable parallel safe
as $$
  select coalesce(jsonb_object_agg(share.result, share.count / share.common || '/' || share.dice / share.common), '{}')
  from (
    select
      found.result,
      count(*) as count,
      cardinality(_odds.results) as dice,
      gcd(count(*), cardinality(_odds.results)) as common
    from unnest(_odds.results) as found (result)
    group by found.result
  ) as share
$$;

comment on function fpb._odds(text[]) is
'Equally likely results as fractions in lowest terms.';

create or replace function fpb.crt(
  position_id bigint,
  line integer,
  differential integer,
  roll integer default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 8
as $$
#variable_conflict use_variable
declare
  state positions.state;
  col integer;
  beyond text := fpb._beyond(line, differential);
  results text[];
begin
  select * into state from positions.state(position_id, conditions, policy);
  col := fpb._column(line, differential, state.readings);
  results := array(
    select cell.value
    from generate_series(coalesce(roll, 1), coalesce(roll, 6)) as die (n)
    cross join lateral charts.cell('fpb', 'combat_results_table', die.n::text, col::text) as cell
    order by die.n
  );
  return next row(
    '8.2.1',
    null,
    null,
    coalesce('column ' || col, 'forbids'),
    concat_ws(', ', format('line %s, differential %s', line, differential), beyond),
    case when beyond is not null then 'fpb-29' end,
    null,
    2 * differential,
    null
  )::rulings.ledger_step;
  return query
  select '8.2.1', null, null, found.result, format('a roll of %s', coalesce(roll, found.n::integer)),
    null, null, null::integer, null::jsonb
  from unnest(results) with ordinality as found (result, n)
  order by found.n;
  return next row(
    '8.2.4',
    null,
    null,
    case when col is null then 'no attack' when roll is null then 'odds' else results[1] end,
    case when col is null then beyond else format('column %s', col) end,
    null,
    null,
    null,
    jsonb_build_object('column', col)
    || case
      when roll is null then jsonb_build_object('odds', fpb._odds(results))
      else jsonb_build_object('result', results[1])
    end
  )::rulings.ledger_step;
end
$$;

comment on function fpb.crt(bigint, integer, integer, integer, jsonb, jsonb) is
'Column and result of the Combat Results Table; without a roll the odds of each result (8.2.1, fpb-29).';
