-- needs: fpb/costs.sql
-- Assault boats in fpb (Forgotten Pacific Battles): where they may go, how many, which flip at once: 12.0, 12.3, 18.1, 18.2.

drop type if exists fpb.shore cascade;
create type fpb.shore as (
  label text,
  q integer,
  r integer,
  coastal boolean,
  terrains text array,
  road boolean,
  reef boolean,
  held boolean,
  boat boolean,
  beach boolean
);

comment on type fpb.shore is
'A hex as a landing meets it: whether it is coastal, what it shows, who holds it, and which marker lies there.';
comment on column fpb.shore.held is 'Whether a Japanese unit is there';

create or replace function fpb._shore(state positions.state, labels text[])
returns setof fpb.shore
language sql stable rows 3
as $$
  select
    hex.label,
    hex.q,
    hex.r,
    'coast' = any(hex.features) or hex.terrain = 'reef' or 'reef' = any(hex.features),
    array(select shown.code from fpb._terrains(hex.terrain, hex.features) as shown (code) order by shown.code),
    exists (
      select
      from public.path
      cross join lateral generate_subscripts(path.qs, 1) as n
      where path.map_id = hex.map_id and path.kind = 'road' and path.qs[n] = hex.q and path.rs[n] = hex.r
    ),
    hex.terrain = 'reef' or 'reef' = any(hex.features),
    exists (
      select
      from public.unit
      where unit.position_id = state.position_id and unit.side = 'japan' and unit.q = hex.q and unit.r = hex.r
    ),
    'assault_boat' = any(lying.kinds),
    'landing_beach' = any(lying.kinds)
  from unnest(_shore.labels) with ordinality as named (label, n)
  inner join public.hex on hex.map_id = state.map_id and hex.label = named.label
  cross join lateral (
    select array(
      select marker.kind
      from public.marker
      where marker.position_id = state.position_id and marker.q = hex.q and marker.r = hex.r
    ) as kinds
  ) as lying
  order by named.n
$$;

comment on function fpb._shore(positions.state, text[]) is
'These hexes as a landing meets them (12.0, 12.3).';

create or replace function fpb._assaulted(state positions.state, shore fpb.shore)
returns boolean
language sql immutable parallel safe
-- fpb-21 b: an empty reef is no unit
return shore.held or (shore.reef and state.readings ->> 'fpb-21' <> 'b');

comment on function fpb._assaulted(positions.state, fpb.shore) is
'Whether a boat hex must be assaulted before anybody lands: a Japanese unit holds it, or it is a reef (12.0, 12.3).';

create or replace function fpb._shore_steps(state positions.state, shore fpb.shore)
returns setof rulings.ledger_step
language sql stable rows 3
as $$
  select
    entry.rule,
    null,
    shore.label,
    entry.effect,
    entry.note,
    entry.point,
    null,
    null::integer,
    null::jsonb
  from (
    values
    (1, not shore.coastal, '12.0', 'forbids', 'it is no coastal hex', null),
    (2, shore.boat or shore.beach, '12.0', 'forbids', 'a marker of the landing lies there already', null)
  ) as entry (n, speaks, rule, effect, note, point)
  where entry.speaks
  union all
  select
    '12.0',
    null,
    shore.label,
    case when barred.bars and not shore.road then 'forbids' else 'passes' end,
    case
      when barred.bars and shore.road then format('%s, with a road', barred.name)
      when barred.bars then format('%s without a road', barred.name)
      else format('%s is open to landings', barred.name)
    end,
    case when barred.mixed and not shore.road then 'fpb-43' end,
    null,
    null::integer,
    null::jsonb
  from (
    select
      replace(shown.code, '_', ' ') as name,
      shown.code in ('light_jungle', 'hill_jungle') as mixed,
      case shown.code
        when 'light_jungle' then state.readings ->> 'fpb-43' = 'c'
        when 'hill_jungle' then state.readings ->> 'fpb-43' <> 'b'
        else true
      end as bars
    from unnest(shore.terrains) as shown (code)
    where shown.code in ('village', 'jungle', 'hill', 'mountain', 'light_jungle', 'hill_jungle')
  ) as barred
$$;

comment on function fpb._shore_steps(positions.state, fpb.shore) is
'What stands against assault boats in a hex, and what a road allows (12.0, fpb-43).';

create or replace function fpb._boat_limit(state positions.state)
returns table (boats integer, rule text, note text)
language sql stable rows 1
as $$
  select
    case
      -- 18.1: of the twelve each other island has what lies there, and one at the least
      when state.conditions ->> 'scenario' = 'simultaneous' then cell.value::integer - coalesce(elsewhere.boats, 0)
      else cell.value::integer
    end,
    cell.rule,
    case
      when state.conditions ->> 'scenario' = 'simultaneous' then 'twelve in all, and one at the least on every island'
      else format('the boats of %s', initcap(state.conditions ->> 'island'))
    end
  from charts.cell(
    'fpb',
    'assault_boat_limits',
    case when state.conditions ->> 'scenario' = 'simultaneous' then 'simultaneous' else state.conditions ->> 'island' end,
    'boats'
  ) as cell
  cross join lateral (
    select sum(greatest(coalesce((island.said ->> 'boats_placed')::integer, 1), 1))::integer as boats
    from public.position
    cross join lateral (
      select row_key as name, position.tracks #> array['islands', row_key] as said
      from charts.cells('fpb', 'scenario_lengths')
      where column_key = 'game_turns'
    ) as island
    where position.id = state.position_id and island.name <> state.conditions ->> 'island'
  ) as elsewhere
$$;

comment on function fpb._boat_limit(positions.state) is
'How many assault boats an island may have; no row where the island is not told (18.1, 18.2).';

create or replace function fpb._boat_steps(state positions.state, labels text[])
returns setof rulings.ledger_step
language sql stable rows 4
as $$
  select
    entry.rule,
    null,
    null,
    entry.effect,
    entry.note,
    entry.point,
    null,
    null::integer,
    null::jsonb
  from (
    select
      (state.conditions ->> 'turn')::integer as turn,
      state.conditions ->> 'phase' as phase,
      (
        select greatest(count(*), max((position.tracks ->> 'boats_placed')::integer))
        from public.position
        left join public.marker
          on marker.position_id = position.id and marker.kind in ('assault_boat', 'landing_beach')
        where position.id = state.position_id and marker.id is not null
      ) as placed,
      -- 18.1: while the island is set up, nobody of them is on the map yet
      state.conditions ->> 'phase' is null and exists (
        select
        from public.unit
        where unit.position_id = state.position_id
          and unit.side = 'japan'
          and unit.q is null
          and unit.attributes ->> 'status' is distinct from 'eliminated'
          and coalesce(unit.attributes ->> 'island' = state.conditions ->> 'island', true)
      ) as before
  ) as now
  left join fpb._boat_limit(state) as most on true
  cross join lateral (
    values
    (1, now.turn > 1, '12.0', 'forbids', 'boats are placed on the first game turn', null),
    (2, now.phase <> 'movement', '12.0', 'forbids', 'boats are placed in the Movement Phase', null),
    (3, state.conditions ->> 'active' = 'japan', '12.0', 'forbids', 'it is not the US player turn', null),
    (4, cardinality(labels) = 0, '12.0', 'forbids', 'one marker at the least is placed', null),
    (
      5, now.before, '18.1',
      case state.readings ->> 'fpb-23' when 'a' then 'waits' else 'forbids' end,
      case state.readings ->> 'fpb-23'
        when 'a' then 'the Japanese are set up after the boats, which do not flip before' else 'the Japanese are set up first'
      end,
      'fpb-23'
    ),
    (
      6, most.boats is not null, most.rule,
      case when cardinality(labels) + coalesce(now.placed, 0) > most.boats then 'forbids' else format('limit %s', most.boats) end,
      case
        when cardinality(labels) + coalesce(now.placed, 0) > most.boats
          then format('%s markers, where %s may be', cardinality(labels) + coalesce(now.placed, 0), most.boats)
        else most.note
      end,
      null
    ),
    (7, most.boats is null, '18.2', 'assumed', 'the island is not told, and its boats are not counted', null)
  ) as entry (n, speaks, rule, effect, note, point)
  where entry.speaks
  order by entry.n
$$;

comment on function fpb._boat_steps(positions.state, text[]) is
'When assault boats are placed, before or after whom, and how many (12.0, 18.1, 18.2, fpb-23).';

create or replace function fpb.assault_boats(
  position_id bigint, labels text[], conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 8
as $$
#variable_conflict use_variable
declare
  state positions.state;
  named text[];
  shores fpb.shore[];
  shore fpb.shore;
  general rulings.ledger_step[];
  particular rulings.ledger_step[];
  step rulings.ledger_step;
  refused jsonb := '{}';
  flips text[] := '{}';
  waits boolean;
begin
  select * into state from positions.state(position_id, conditions, policy);
  named := array(
    select label from unnest(labels) with ordinality as each (label, n) group by label order by min(n)
  );
  general := array(select part from fpb._boat_steps(state, named) as part);
  return query select * from unnest(general);
  waits := exists (select from unnest(general) as part where part.effect = 'waits');
  shores := array(select each from fpb._shore(state, named) as each);
  foreach shore in array shores loop
    particular := array(select part from fpb._shore_steps(state, shore) as part);
    return query select * from unnest(particular);
    for step in select * from unnest(particular) as part where part.effect = 'forbids' loop
      refused := refused || jsonb_build_object(shore.label, concat_ws('; ', refused ->> shore.label, step.note));
    end loop;
    if refused ? shore.label or waits then
      continue;
    end if;
    if not fpb._assaulted(state, shore) then
      flips := flips || shore.label;
    end if;
    return next row(
      case when shore.reef and not shore.held then '12.3' else '12.0' end, null, shore.label,
      case when fpb._assaulted(state, shore) then 'assault' else 'flips' end,
      case
        when shore.held then 'a Japanese unit is there'
        when shore.reef then 'an empty reef'
        else 'no Japanese unit is there'
      end,
      case when shore.reef and not shore.held then 'fpb-21' end, null, null, null
    )::rulings.ledger_step;
  end loop;
  select part.* into step from unnest(general) as part where part.effect = 'forbids' limit 1;
  return next row(
    coalesce(step.rule, '12.0'), null, null,
    case when step.rule is null and refused = '{}' then 'placed' else 'refused' end,
    coalesce(
      step.note,
      (select string_agg(format('%s: %s', each.key, each.value), '; ' order by each.key) from jsonb_each_text(refused) as each),
      format('%s placed', cardinality(named))
    ),
    null, null, null,
    jsonb_build_object(
      'allowed', step.rule is null and refused = '{}', 'refused', refused, 'flips', flips, 'boats', named
    )
  )::rulings.ledger_step;
end
$$;

comment on function fpb.assault_boats(bigint, text[], jsonb, jsonb) is
'Whether assault boats may be placed in these hexes, what stands against each, and which flip at once; the verdict last.';

create or replace function fpb.open_beaches(
  position_id bigint, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language sql stable rows 3
as $$
  select
    case when shore.reef and not shore.held then '12.3' else '12.0' end,
    null,
    shore.label,
    case when fpb._assaulted(state, shore) then 'assault' else 'flips' end,
    case
      when shore.held then 'a Japanese unit is there'
      when shore.reef then 'an empty reef'
      else 'no Japanese unit is there'
    end,
    case when shore.reef and not shore.held then 'fpb-21' end,
    null,
    null::integer,
    null::jsonb
  from positions.state(open_beaches.position_id, open_beaches.conditions, open_beaches.policy) as state
  cross join lateral (
    select array_agg(hex.label order by hex.label collate "C") as labels
    from public.marker
    inner join public.hex on hex.map_id = state.map_id and hex.q = marker.q and hex.r = marker.r
    where marker.position_id = state.position_id and marker.kind = 'assault_boat'
  ) as boats
  cross join lateral fpb._shore(state, boats.labels) as shore
  -- 12.2: later only a Japanese unit that goes flips a marker
  where coalesce((state.conditions ->> 'turn')::integer, 1) = 1
$$;

comment on function fpb.open_beaches(bigint, jsonb, jsonb) is
'Of every assault boat on the first game turn, whether its hex is free and it flips (12.0, 12.3).';
