-- needs: ddp/command.sql, ddp/spots.sql, rulings/step.sql
-- Free actions in ddp (D-Day at Peleliu): 7.1, 7.34, 7.35, 7.6, 10.12, 10.16, 14.3, 18.33.

create or replace function ddp._acts(kind text)
returns boolean
language sql immutable parallel safe
-- 14.0, 14.41: a command post stays where it is, a garrison does nothing
return coalesce(kind not in ('garrison', 'command_post', 'hero'), true);

comment on function ddp._acts(text) is
'Whether a unit of this kind performs actions at all (14.0, 14.41).';

create or replace function ddp._on_foot(kind text)
returns boolean
language sql immutable parallel safe
return coalesce(kind in ('infantry', 'heavy_infantry', 'infantry_hq'), false);

comment on function ddp._on_foot(text) is
'Whether a unit is infantry; an infantry/HQ has its properties (10.3).';

create or replace function ddp._free_grounds(state positions.state, unit positions.counter, preserves boolean)
returns table (ground text, rule text, holds boolean, note text, point text)
language sql stable rows 8
as $$
  with found as materialized (
    select step.*
    from ddp.command(state.position_id, unit.code, state.conditions, state.readings) as step
  ),

  said as (
    select
      ddp._flag(unit.attributes, 'disrupted') as disrupted,
      ddp._flag(unit.attributes, 'fresh') as fresh,
      ddp._acts(unit.kind) as acts
  ),

  listed as (
    select 'hero' as ground, '10.12' as rule, ddp._flag(unit.attributes, 'hero') as holds, 'it has a hero' as note, null as point
    union all
    select 'inspired', '10.16', ddp._flag(unit.attributes, 'inspired'), 'it has an inspired marker', null
    union all
    select 'hq', '7.1', unit.kind in ('regimental_hq', 'infantry_hq'), 'it is an HQ', null
    union all
    select 'command', '7.1', true, format('%s commands it', step.by), null
    from found as step
    where step.effect = 'commands' and step.rule <> '10.3' and step.by <> unit.code
    union all
    -- 7.1: an infantry/HQ commands infantry stacked with it, itself an HQ
    select 'infantry_hq', '10.3', step.by <> unit.code, format('%s is stacked with it', step.by), null
    from found as step
    where step.effect = 'commands' and step.rule = '10.3'
    union all
    select step.effect, step.rule, false, step.note, step.point
    from found as step
    where step.rule = '7.34'
    union all
    select
      'preservation',
      '7.35',
      preserves
      and (
        ddp._on_foot(unit.kind)
        or (unit.kind = 'engineer' and coalesce(state.readings ->> 'ddp-5' <> 'b', true))
      )
      and exists (
        select from ddp._landing_beaches(state.map_id) as beach where beach.q = unit.q and beach.r = unit.r
      ),
      'it may leave the landing beach hex by a move of one hex',
      case
        when
          unit.kind = 'engineer'
          and exists (
            select from ddp._landing_beaches(state.map_id) as beach where beach.q = unit.q and beach.r = unit.r
          )
          then 'ddp-5'
      end
    where preserves
    union all
    select 'scenario', '18.33', ddp._ridge(state.conditions), 'on Bloody Nose Ridge every US unit may act', null
  )

  select
    'disrupted' as ground,
    '7.6' as rule,
    not said.fresh and said.acts,
    case
      when said.fresh then 'disrupted in this Action Phase: the marker stays'
      else 'disrupted: all that it may do is lose the marker'
    end,
    null
  from said
  where said.disrupted
  union all
  select listed.ground, listed.rule, listed.holds and said.acts, listed.note, listed.point
  from listed
  cross join said
  where not said.disrupted
    and (listed.holds or listed.point is not null)
$$;

comment on function ddp._free_grounds(positions.state, positions.counter, boolean) is
'Why a unit may act without spending one of the two actions, and what takes that away (7.1, 7.34, 7.35, 18.33).';

create or replace function ddp.free_action(
  position_id bigint, unit text, conditions jsonb default null, policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 4
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  state positions.state;
  asked positions.counter := positions._asked_counter(free_action.position_id, free_action.unit);
begin
  select * into state from positions.state(free_action.position_id, free_action.conditions, free_action.policy);
  return query
  select
    ground.rule,
    null::text,
    asked.label,
    case when ground.holds then 'free' else 'not free' end,
    ground.note,
    ground.point,
    asked.code,
    null::integer,
    null::jsonb
  from ddp._free_grounds(state, asked, true) as ground
  order by ground.rule, ground.note;
  return query
  select
    '7.1',
    null::text,
    asked.label,
    case when count(*) > 0 then 'free' else 'not free' end,
    case
      when count(*) > 0 then format('%s acts for free', asked.code)
      when not ddp._acts(asked.kind) then format('%s performs no actions', asked.code)
      else format('%s needs one of the two actions of the turn', asked.code)
    end,
    null::text,
    asked.code,
    null::integer,
    jsonb_build_object(
      'free', count(*) > 0, 'because', coalesce(jsonb_agg(distinct ground.ground), '[]')
    )
  from ddp._free_grounds(state, asked, true) as ground
  where ground.holds and asked.side = 'us';
end
$$;

comment on function ddp.free_action(bigint, text, jsonb, jsonb) is
'Whether a US unit may act for free, and on what grounds (7.1): the verdict last.';
