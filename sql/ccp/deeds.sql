-- needs: ccp/events.sql, ccp/fire.sql
-- Actions outside an attack, and what forbids each: A38, A43, A46, A47.

create or replace function ccp._hidden_deed_steps(state positions.state, name text, side text, at text, units text[])
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select
    fact.rule,
    null,
    _hidden_deed_steps.at,
    fact.effect,
    fact.note,
    null,
    null,
    null::integer,
    null::jsonb
  from (
    select
      case name when 'hidden_mines' then 'A43.2' when 'hidden_wire' then 'A43.7' else 'A43.3' end as rule
  ) as deed
  left join ccp._plots(state) as ground on ground.label = _hidden_deed_steps.at
  cross join lateral (
    values
    (ground.label is null, deed.rule, 'forbids', 'the hex that was entered is not told'),
    (ground.water, deed.rule, 'forbids', format('%s is water', ground.label)),
    (
      ground.fortification is not null, deed.rule, 'forbids',
      format('a fortification is in %s already: %s', ground.label, ground.fortification)
    ),
    (ground.blaze, '15.1.5', 'forbids', format('a blaze is in %s', ground.label)),
    (
      ground.label is not null and not exists (
        select
        from public.unit
        where unit.position_id = state.position_id
          and unit.q = ground.q
          and unit.r = ground.r
          and unit.side <> _hidden_deed_steps.side
          and unit.kind <> 'aircraft'
          and (units is null or unit.code = any(units))
      ), deed.rule, 'forbids', format('no enemy unit has just entered %s', ground.label)
    )
  ) as fact (holds, rule, effect, note)
  where fact.holds
$$;

comment on function ccp._hidden_deed_steps(positions.state, text, text, text, text[]) is
'What forbids Hidden Mines, Wire or Panji Trap in a hex that the enemy has entered (A43.2, A43.3, A43.7).';

create or replace function ccp._posture_steps(state positions.state, name text, side text)
returns setof rulings.ledger_step
language sql stable rows 1
as $$
  select
    'A43',
    null,
    null,
    case when posture.word is null then 'assumed' else 'forbids' end,
    case
      when posture.word is null then 'the Posture is not told: taken to be that of the Defender'
      else format('only the Defender plays it, and the Posture is %s', posture.word)
    end,
    null,
    null,
    null::integer,
    null::jsonb
  from (select state.conditions -> 'posture' ->> _posture_steps.side as word) as posture
  where name like 'hidden%'
    and posture.word is distinct from 'defender'
$$;

comment on function ccp._posture_steps(positions.state, text, text) is
'Hidden actions are the scenario Defender''s alone (A43).';

create or replace function ccp._pass_steps(name text, discarded integer)
returns setof rulings.ledger_step
language sql immutable rows 1
as $$
  select
    case name when 'demolitions' then 'A38' else 'A43.6' end,
    null,
    null,
    case when discarded is null then 'unknown' else 'forbids' end,
    case
      when discarded is null then 'how many cards the opponent discarded in a pass'
      else 'the opponent discarded no card'
    end,
    null,
    null,
    null::integer,
    null::jsonb
  where name in ('demolitions', 'hidden_unit')
    and coalesce(discarded, 0) = 0
$$;

comment on function ccp._pass_steps(text, integer) is
'Demolitions and Hidden Unit want a pass of the opponent in which he threw away a card (A38, A43.6).';

create or replace function ccp._squad_steps(state positions.state, side text, units text[])
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select
    'A47',
    null,
    place.label,
    'forbids',
    fact.note,
    null,
    null,
    null::integer,
    null::jsonb
  from unnest(units) as named (code)
  inner join public.unit on unit.position_id = state.position_id and unit.code = named.code
  left join public.hex as place on place.map_id = unit.map_id and place.q = unit.q and place.r = unit.r
  cross join lateral (
    values
    (unit.side <> _squad_steps.side, format('%s is of the other side', unit.code)),
    (unit.kind <> 'squad', format('%s is no squad', unit.code)),
    (
      unit.attributes ->> 'activated' not in ('move', 'advance'),
      format('%s is not activated to Move or Advance', unit.code)
    )
  ) as fact (holds, note)
  where fact.holds
  union all
  select 'A47', null, null, 'forbids', 'no squad is activated', null, null, null, null
  where coalesce(cardinality(units), 0) = 0
$$;

comment on function ccp._squad_steps(positions.state, text, text[]) is
'A Smoke Screen is placed by squads that are activated to Move or Advance (A47).';

create or replace function ccp._quarter_steps(state positions.state, side text, at text, melee text)
returns setof rulings.ledger_step
language sql stable rows 2
as $$
  select
    fact.rule,
    null,
    _quarter_steps.at,
    fact.effect,
    fact.note,
    fact.point,
    null,
    null::integer,
    null::jsonb
  from (
    select
      count(*) filter (where unit.side = _quarter_steps.side) as own,
      count(*) filter (where unit.side <> _quarter_steps.side) as enemy
    from public.hex
    inner join public.unit on unit.map_id = hex.map_id and unit.q = hex.q and unit.r = hex.r
    where hex.map_id = state.map_id
      and hex.label = _quarter_steps.at
      and unit.position_id = state.position_id
      and unit.kind <> 'aircraft'
  ) as left_
  cross join lateral (
    values
    (left_.own = 0, 'A46', 'forbids', 'no own unit survived the melee', null),
    (left_.own > 0 and left_.enemy > 0, 'A46', 'forbids', 'the melee there is not over', null),
    (
      melee = 'none', 'A46',
      case when state.readings ->> 'ccp-48' = 'b' then 'forbids' else 'allows' end,
      'the melee ended before its rolls', 'ccp-48'
    )
  ) as fact (holds, rule, effect, note, point)
  where fact.holds
$$;

comment on function ccp._quarter_steps(positions.state, text, text, text) is
'No Quarter is played as a melee ends, by a side with a survivor (A46, ccp-48).';

create or replace function ccp.deed(
  position_id bigint,
  name text,
  side text,
  at text,
  units text[],
  discarded integer,
  melee text,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
as $$
#variable_conflict use_column
declare
  state positions.state;
begin
  select * into state from positions.state(deed.position_id, deed.conditions, deed.policy);
  return query select * from ccp._posture_steps(state, deed.name, deed.side);
  return query select * from ccp._pass_steps(deed.name, deed.discarded);
  if deed.name in ('hidden_mines', 'hidden_wire', 'hidden_panji_trap') then
    return query select * from ccp._hidden_deed_steps(state, deed.name, deed.side, deed.at, deed.units);
  elsif deed.name = 'smoke_screen' then
    return query select * from ccp._squad_steps(state, deed.side, deed.units);
  elsif deed.name = 'no_quarter' then
    return query select * from ccp._quarter_steps(state, deed.side, deed.at, deed.melee);
  end if;
end
$$;

comment on function ccp.deed(bigint, text, text, text, text[], integer, text, jsonb, jsonb) is
'What forbids an action outside an attack; no row that forbids where it may be played (A38, A43, A46, A47).';

create or replace function ccp.demolition_hexes(position_id bigint, side text, conditions jsonb default null)
returns table (label text, fortification text)
language sql stable rows 3
as $$
  select distinct
    ground.label,
    ground.fortification
  from positions.state(demolition_hexes.position_id, demolition_hexes.conditions) as state
  cross join lateral ccp._plots(state) as ground
  inner join public.unit
    on unit.position_id = state.position_id
      and unit.q = ground.q
      and unit.r = ground.r
      and unit.side = demolition_hexes.side
      and unit.kind <> 'aircraft'
  where ground.fortification is not null
  order by ground.label
$$;

comment on function ccp.demolition_hexes(bigint, text, jsonb) is
'Hexes with a unit of a side and a fortification, which Demolitions may eliminate (A38).';

create or replace function ccp.ambush_hexes(position_id bigint, side text, conditions jsonb default null)
returns table (label text)
language sql stable rows 10
as $$
  select ground.label
  from positions.state(ambush_hexes.position_id, ambush_hexes.conditions) as state
  cross join lateral ccp.zone_hexes(state.position_id, 'setup', ambush_hexes.side, state.conditions) as ground
  where ground.cover >= 1
    and not ground.blaze
    and not exists (
      select
      from public.unit
      where unit.position_id = state.position_id
        and unit.q = ground.q
        and unit.r = ground.r
        and unit.kind <> 'aircraft'
    )
  order by ground.label
$$;

comment on function ccp.ambush_hexes(bigint, text, jsonb) is
'Hexes of a side''s set-up area without units and with Cover of 1 or more, where a Hidden Unit may appear (A43.6).';

create or replace function ccp.could_hide(position_id bigint, hex text, word text, conditions jsonb default null)
returns boolean
language sql stable
as $$
  select
    not ground.water
    and not ground.blaze
    and ground.fortification is null
    and (could_hide.word <> 'hidden_cave' or ccp._is_crest(state, ground.q, ground.r))
  from positions.state(could_hide.position_id, could_hide.conditions) as state
  cross join lateral ccp.hex_now(could_hide.position_id, could_hide.hex, could_hide.conditions) as ground
$$;

comment on function ccp.could_hide(bigint, text, text, jsonb) is
'Whether a Hidden action may place its fortification in a hex: no water, no blaze, none there; a cave on a Crest (A43).';
