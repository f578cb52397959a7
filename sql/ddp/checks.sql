-- needs: ddp/actions.sql, ddp/fire.sql, ddp/goals.sql, ddp/strikes.sql
-- The Japanese Fire Phase as a whole in ddp (D-Day at Peleliu): who is checked by a card, what each then does, and what those
-- who come later would hit: 6.34, 11.22, 12.0, 13.2, 13.42.
--
-- `ddp.opening` tells what the phase begins with, `ddp.checked` what the next positions do as things stand, `ddp.closing` what it
-- ends with.

drop type if exists ddp.phase_step cascade;
create type ddp.phase_step as (
  place text,
  part text,
  rule text,
  clause text,
  at text,
  effect text,
  note text,
  point text,
  by text,
  halves integer,
  facts jsonb
);

comment on type ddp.phase_step is
'A row of a ledger within a Fire Phase: of which position, and of which part of what happens there.';

create or replace function ddp._checks(scene ddp.scene, colors text[], linked text[])
returns table (place text, color text, west integer, held boolean, connected boolean)
language sql stable rows 10
as $$
  -- 12.0: every occupied position, and every other within three hexes of a US unit
  select
    site.place,
    min(site.color),
    min(site.west),
    bool_or(site.held is not null),
    coalesce(bool_or(site.label = any(linked)), false)
  from unnest(scene.sites) as site
  where site.color = any(colors)
    and not site.provisional
  group by site.place
  having bool_or(site.held is not null)
    or (min(site.near) <= 3 and not ddp._ridge((scene.state).conditions))
  order by array_position(colors, min(site.color)), min(site.west), min(site.label)
$$;

comment on function ddp._checks(ddp.scene, text[], text[]) is
'The positions that a fire card checks, color by color and from west to east (12.0).';

create or replace function ddp.checks(
  position_id bigint, colors text[], linked text[] default null, conditions jsonb default null, policy jsonb default null
)
returns table (place text, color text, west integer, held boolean, connected boolean)
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  scene ddp.scene := ddp._scene(position_id, conditions, policy);
begin
  return query
  select one.* from ddp._checks(scene, colors, linked) as one;
end
$$;

comment on function ddp.checks(bigint, text[], text[], jsonb, jsonb) is
'The positions that a fire card checks now (12.0).';

create or replace function ddp.opening(position_id bigint, conditions jsonb default null, policy jsonb default null)
returns table (
  moment jsonb, readings jsonb, letters text[], linked text[], stance jsonb, checks jsonb, strays jsonb, caves boolean
)
language plpgsql stable rows 1
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  scene ddp.scene := ddp._scene(opening.position_id, opening.conditions, opening.policy);
  state positions.state := scene.state;
  shown text[];
begin
  moment := state.conditions;
  readings := state.readings;
  letters := ddp._letters(state.conditions);
  -- 11.22: communication is fixed for the whole phase
  linked := ddp._linked(state, null);
  if exists (select from unnest(scene.holders) as holder where holder.stance) then
    stance := (
      select jsonb_agg(jsonb_build_object('unit', one.unit, 'rank', one.rank) order by one.rank, one.unit)
      from ddp.stance_order(opening.position_id, opening.conditions, opening.policy) as one
    );
  end if;
  shown := array(select distinct site.color from unnest(scene.sites) as site);
  checks := (select jsonb_agg(to_jsonb(one)) from ddp._checks(scene, shown, linked) as one);
  strays := (
    select jsonb_agg(jsonb_build_object('unit', holder.code, 'color', holder.attributes ->> 'color') order by holder.label)
    from unnest(scene.holders) as holder
    where holder.tank and not holder.stance and holder.place is null
  );
  caves := exists (select from unnest(scene.holders) as holder where holder.cave and holder.place is null);
  return next;
end
$$;

comment on function ddp.opening(bigint, jsonb, jsonb) is
'What a Japanese Fire Phase begins with: the letters in force, communication, units in stance, positions to check, stray tanks.';

create or replace function ddp._gains(scene ddp.scene, place text, linked text[])
returns integer
language plpgsql stable
as $$
begin
  return (
    select count(*)
    from unnest(scene.holders) as holder
    where holder.place = _gains.place
      and not holder.disrupted
      and not holder.depth
      and not holder.tank
      and holder.label = any(_gains.linked)
  );
end
$$;

comment on function ddp._gains(ddp.scene, text, text[]) is
'How many depth markers a re-supply brings a position before it fires: one for each unit in communication that has none (12.3).';

create or replace function ddp._acts(scene ddp.scene, plight ddp.plight, action text, arrived text[])
returns boolean
language plpgsql stable
as $$
begin
  return action = 'recover' or action <> 'none' and (
    not plight.held
    -- 12.0: who came here by an action of this phase is not checked again
    or exists (
      select
      from unnest(scene.holders) as holder
      where holder.place = plight.place
        and not holder.stance
        and not holder.disrupted
        and holder.code <> all(arrived)
    )
  );
end
$$;

comment on function ddp._acts(ddp.scene, ddp.plight, text, text[]) is
'Whether somebody in a position carries out its action; an empty one does by itself.';

create or replace function ddp._strike_manner(plight ddp.plight, action text, ridge boolean)
returns text
language sql immutable
return case action
  when 'mortar' then 'mortar'
  when 'ambush' then 'ambush'
  when 'patrol' then case when plight.targets then 'patrol_field' else 'patrol' end
  when 'artillery_fire' then case when ridge then 'ridge_artillery' else 'artillery_fire' end
end;

comment on function ddp._strike_manner(ddp.plight, text, boolean) is
'How an action strikes without fire from dots (12.1, 12.6, 12.7, 12.9, 18.35); null where it does not.';

create or replace function ddp.checked(
  position_id bigint,
  places text[],
  card jsonb,
  linked text[] default null,
  arrived text[] default '{}',
  conditions jsonb default null,
  policy jsonb default null
)
returns setof ddp.phase_step
language plpgsql stable rows 20
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  scene ddp.scene := ddp._scene(position_id, conditions, policy);
  connected text[] := ddp._linked(scene.state, linked);
  letters text[] := ddp._letters((scene.state).conditions);
  chart jsonb := ddp._fire_chart();
  able ddp.shooter[] := array(select shooter from ddp._shooters(scene) as shooter);
  shooters ddp.shooter[] := '{}';
  targets ddp.target[];
  plight ddp.plight;
  shooter ddp.shooter;
  mark jsonb;
  letter text;
  action text;
  manner text;
  acting text;
begin
  foreach plight in array array(select one from ddp._plights(scene, places, connected) as one) loop
    mark := card -> 'colors' -> plight.color;
    letter := case when mark ->> 'letter' = any(letters) then mark ->> 'letter' end;
    action := ddp._action(scene.state, plight, letter);
    if acting is null then
      return query
      select plight.place, 'situation', step.*
      from ddp._situation(scene, plight, mark ->> 'letter', letter, action, connected) as step;
    end if;
    continue when not ddp._acts(scene, plight, action, arrived);
    manner := ddp._strike_manner(plight, action, ddp._ridge((scene.state).conditions));
    if manner is not null then
      -- which may well find nobody, so that the next one is checked as things are
      continue when acting is not null;
      return query
      select plight.place, 'strike', step.* from ddp._strike(scene, plight.place, manner, card ->> 'symbol') as step;
    elsif plight.targets and action in ('fire', 'machine_guns', 'resupply', 'multiple_fire', 'overrun', 'fire_or_advance') then
      select one.* into shooter from unnest(able) as one where one.place = plight.place;
      shooter.symbol := card ->> 'symbol';
      shooter.star := coalesce((mark ->> 'star')::boolean, false);
      shooter.armor := coalesce((mark ->> 'armor')::boolean, false)
      -- ddp-14: a tank's default fire may hit armor without the card
      or (action = 'fire_or_advance' and (scene.state).readings ->> 'ddp-14' = 'a');
      shooter.machine_guns := action = 'machine_guns';
      if action = 'resupply' then
        shooter.most := shooter.most + ddp._gains(scene, plight.place, connected);
      end if;
      shooters := shooters || shooter;
    end if;
    if manner is null then
      acting := coalesce(acting, plight.place);
    end if;
  end loop;
  if cardinality(shooters) > 0 then
    targets := array(select target from ddp._targets(scene, chart, shooters) as target);
    return query
    select one.place, 'fire', step.*
    from unnest(shooters) as one
    cross join lateral ddp._volley(scene, one, targets, one.place = acting) as step;
  end if;
end
$$;

comment on function ddp.checked(bigint, text[], jsonb, text[], text[], jsonb, jsonb) is
'Positions that a card has yet to check, as things stand: the situation of each up to the first that is sure to change something, whom
those strike, and what all that fire may hit (6.34).
`card` is {symbol, colors: {red: {letter, star, armor}}}; `arrived` are units that have acted.';

create or replace function ddp.closing(
  position_id bigint,
  required integer,
  symbol text,
  colors text[],
  conditions jsonb default null,
  policy jsonb default null
)
returns setof ddp.phase_step
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  scene ddp.scene := ddp._scene(position_id, conditions, policy);
begin
  return query
  select null::text, 'artillery', step.* from ddp._artillery(scene, required, symbol) as step;
  return query
  select null::text, 'recovery', step.* from ddp._recovering(scene.holders, colors) as step;
  return query
  -- 6.34, 12.0: who lost a step and who was checked is forgotten when the phase ends
  select null::text, 'flag', null, null, null, null, null, null, unit.code, null::integer, null::jsonb
  from public.unit
  where unit.position_id = position_id
    and unit.attributes ?| array['stepped', 'checked']
  order by unit.code;
end
$$;

comment on function ddp.closing(bigint, integer, text, text[], jsonb, jsonb) is
'What a Japanese Fire Phase ends with: artillery by the value of the card (6.5), who recovers (6.42), and units with flags of the phase.';

create or replace function ddp.reserve_hexes(
  position_id bigint,
  color text,
  letter text,
  linked text[],
  conditions jsonb default null,
  policy jsonb default null
)
returns table (label text, near integer)
language plpgsql stable rows 4
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  scene ddp.scene := ddp._scene(position_id, conditions, policy);
begin
  if letter <> all(ddp._letters((scene.state).conditions)) or ddp._ridge((scene.state).conditions) then
    return;
  end if;
  return query
  select
    site.label,
    site.near
  from ddp._plights(
    scene,
    array(select distinct site.place from unnest(scene.sites) as site where site.color = color and not site.provisional),
    linked
  ) as one
  cross join lateral unnest(case when letter = 'I' then one.cut_off else one.free[1:1] end) as wanted (label)
  inner join unnest(scene.sites) as site on site.label = wanted.label
  where not one.held
  order by site.near, site.label;
end
$$;

comment on function ddp.reserve_hexes(bigint, text, text, text[], jsonb, jsonb) is
'The position hexes of a color that would muster, reinforce or infiltrate, the closest to US units first (12.22, 12.52, 12.102).';
