-- needs: ddp/actions.sql, ddp/fire.sql, ddp/goals.sql, ddp/strikes.sql
-- The Japanese Fire Phase as a whole in ddp (D-Day at Peleliu): who is checked by a card, what each then does, and what those
-- who come later would hit: 6.34, 11.22, 12.0, 13.2, 13.42.
--
-- `ddp.opening` tells what the phase begins with, `ddp.checked` what the next positions do as things stand, `ddp.volleys` what they
-- may hit once units have lost steps, `ddp.closing` what the phase ends with.

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

create or replace function ddp._checks(scene ddp.scene, card jsonb, linked text[])
returns table (place text, color text, west integer, held boolean)
language sql stable rows 10
as $$
  -- 12.0: every occupied position, and every other within three hexes of a US unit
  select
    site.place,
    min(site.color),
    min(site.west),
    bool_or(site.held is not null)
  from unnest(scene.sites) as site
  inner join jsonb_array_elements_text(card -> 'order') with ordinality as shown (color, n) on shown.color = site.color
  cross join lateral (select card -> 'colors' -> site.color ->> 'letter' as letter) as mark
  where not site.provisional
  group by site.place, shown.n, mark.letter
  having bool_or(site.held is not null)
    -- an empty one acts by a letter alone: in communication, and with an I out of it
    or (
      min(site.near) <= 3
      and not ddp._ridge((scene.state).conditions)
      and mark.letter = any(ddp._letters((scene.state).conditions))
      and (mark.letter = 'I' or bool_or(site.label = any(linked)))
    )
  order by shown.n, min(site.west), min(site.label)
$$;

comment on function ddp._checks(ddp.scene, jsonb, text[]) is
'The positions that a fire card checks, color by color and from west to east (12.0).';

create or replace function ddp.checks(
  position_id bigint, card jsonb, linked text[] default null, conditions jsonb default null, policy jsonb default null
)
returns table (place text, color text, west integer, held boolean)
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  scene ddp.scene := ddp._scene(position_id, conditions, policy);
begin
  return query
  select one.* from ddp._checks(scene, card, linked) as one;
end
$$;

comment on function ddp.checks(bigint, jsonb, text[], jsonb, jsonb) is
'The positions that a fire card checks now (12.0).';

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

create or replace function ddp._acts(plight ddp.plight, action text, arrived text[])
returns boolean
language sql immutable
-- 12.0: who came here by an action of this phase is not checked again
return action = 'recover' or action <> 'none' and (not plight.held or not plight.able <@ arrived);

comment on function ddp._acts(ddp.plight, text, text[]) is
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

create or replace function ddp._aimed(scene ddp.scene, plight ddp.plight, shooter ddp.shooter, action text, card jsonb, linked text[])
returns ddp.shooter
language plpgsql stable
as $$
#variable_conflict use_variable
declare
  mark jsonb := card -> 'colors' -> plight.color;
begin
  shooter.symbol := card ->> 'symbol';
  shooter.star := coalesce((mark ->> 'star')::boolean, false);
  shooter.armor := coalesce((mark ->> 'armor')::boolean, false)
  -- ddp-14: a tank's default fire may hit armor without the card
  or (action = 'fire_or_advance' and (scene.state).readings ->> 'ddp-14' = 'a');
  shooter.machine_guns := action = 'machine_guns';
  if action = 'resupply' then
    shooter.most := shooter.most + ddp._gains(scene, plight.place, linked);
  end if;
  return shooter;
end
$$;

comment on function ddp._aimed(ddp.scene, ddp.plight, ddp.shooter, text, jsonb, text[]) is
'A position that fires by an action, with the marks of its color on the card (6.1, 12.3, ddp-14).';

create or replace function ddp._volleys(scene ddp.scene, shooters ddp.shooter[], before ddp.before[], acting text)
returns setof ddp.phase_step
language plpgsql stable rows 20
as $$
#variable_conflict use_variable
declare
  chart jsonb := ddp._fire_chart();
  targets ddp.target[] := array(select target from ddp._targets(scene, chart, shooters, before) as target);
begin
  return query
  select one.place, 'fire', step.*
  from unnest(shooters) as one
  cross join lateral ddp._volley(scene, one, targets, one.place = acting) as step;
end
$$;

comment on function ddp._volleys(ddp.scene, ddp.shooter[], ddp.before[], text) is
'Fire of several positions as ledgers, that of the one which acts whole, of the others the verdicts.';

create or replace function ddp._strike_field(scene ddp.scene, place text, manner text, card jsonb)
returns jsonb
language plpgsql stable
as $$
begin
  return jsonb_build_object(
    'place', _strike_field.place,
    'manner', manner,
    'symbol', card ->> 'symbol',
    'most', ddp._strike_limit(scene, _strike_field.place, manner),
    'before', (
      select coalesce(jsonb_agg(to_jsonb(one)), '[]') from ddp._aimed_at(scene, _strike_field.place, manner) as one
    )
  );
end
$$;

comment on function ddp._strike_field(ddp.scene, text, text, jsonb) is
'A position that strikes without fire from dots, and who comes into question by where they stand.';

create or replace function ddp._struck_anew(scene ddp.scene, field jsonb)
returns setof ddp.phase_step
language plpgsql stable rows 5
as $$
declare
  candidates ddp.candidate[] := array(
    select one from jsonb_populate_recordset(null::ddp.candidate, field -> 'before') as one
  );
begin
  return query
  select field ->> 'place', 'strike', step.*
  from ddp._struck(
    scene, field ->> 'place', field ->> 'manner', field ->> 'symbol', (field ->> 'most')::integer, candidates
  ) as step;
  return next row(field ->> 'place', 'field', null, null, null, null, null, null, null, null, field)::ddp.phase_step;
end
$$;

comment on function ddp._struck_anew(ddp.scene, jsonb) is
'Whom a position strikes, as units stand now; and who came into question, to be asked again.';

create or replace function ddp._checked(scene ddp.scene, places text[], card jsonb, linked text[], arrived text[])
returns setof ddp.phase_step
language plpgsql stable rows 20
as $$
#variable_conflict use_variable
declare
  letters text[] := ddp._letters((scene.state).conditions);
  able ddp.shooter[] := array(select shooter from ddp._shooters(scene) as shooter);
  shooters ddp.shooter[] := '{}';
  before ddp.before[];
  plight ddp.plight;
  printed text;
  letter text;
  action text;
  manner text;
  acting text;
begin
  foreach plight in array array(select one from ddp._plights(scene, places, linked) as one) loop
    printed := card -> 'colors' -> plight.color ->> 'letter';
    letter := case when printed = any(letters) then printed end;
    action := ddp._action(scene.state, plight, letter);
    return query
    select plight.place, 'situation', step.*
    from unnest(ddp._situation(scene.state, plight, printed, letter, action, linked)) as step;
    continue when not ddp._acts(plight, action, arrived);
    manner := ddp._strike_manner(plight, action, ddp._ridge((scene.state).conditions));
    if manner is not null then
      return query
      select step.* from ddp._struck_anew(scene, ddp._strike_field(scene, plight.place, manner, card)) as step;
      continue;
    end if;
    acting := coalesce(acting, plight.place);
    if plight.targets and action in ('fire', 'machine_guns', 'resupply', 'multiple_fire', 'overrun', 'fire_or_advance') then
      shooters := shooters || array(
        select ddp._aimed(scene, plight, one, action, card, linked) from unnest(able) as one where one.place = plight.place
      );
    end if;
  end loop;
  if cardinality(shooters) > 0 then
    before := array(select one from ddp._before(scene, shooters) as one);
    return query
    select step.* from ddp._volleys(scene, shooters, before, acting) as step;
    return query
    select one.place, 'field', null, null, null, null, null, null, null, null::integer,
      to_jsonb(one) || jsonb_build_object(
        'before', (select coalesce(jsonb_agg(to_jsonb(man)), '[]') from unnest(before) as man where man.place = one.place)
      )
    from unnest(shooters) as one;
  end if;
end
$$;

comment on function ddp._checked(ddp.scene, text[], jsonb, text[], text[]) is
'The situation of positions, whom each strikes or may hit, of the fire of the first that is sure to act the whole ledger.';

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
begin
  return query
  select step.* from ddp._checked(scene, places, card, ddp._linked(scene, linked), arrived) as step;
end
$$;

comment on function ddp.checked(bigint, text[], jsonb, text[], text[], jsonb, jsonb) is
'Positions that a card has yet to check, as things stand: the situation of each, whom it strikes, and what all that fire may
hit (6.34).
`card` is {symbol, order: [red], colors: {red: {letter, star, armor}}}; `arrived` are units that have acted.';

create or replace function ddp.opening(
  position_id bigint, card jsonb, conditions jsonb default null, policy jsonb default null
)
returns setof ddp.phase_step
language plpgsql stable rows 30
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  scene ddp.scene := ddp._scene(opening.position_id, opening.conditions, opening.policy);
  state positions.state := scene.state;
  -- 11.22: communication is fixed for the whole phase
  linked text[] := ddp._linked(scene, null);
  in_stance boolean := exists (select from unnest(scene.holders) as holder where holder.stance);
  checks jsonb := (select jsonb_agg(to_jsonb(one)) from ddp._checks(scene, card, linked) as one);
  stance jsonb;
begin
  if in_stance then
    stance := (
      select jsonb_agg(jsonb_build_object('unit', one.unit, 'rank', one.rank) order by one.rank, one.unit)
      from ddp.stance_order(opening.position_id, opening.conditions, opening.policy) as one
    );
  end if;
  return next row(
    null, 'opening', null, null, null, null, null, null, null, null,
    jsonb_build_object(
      'readings', state.readings,
      'linked', linked,
      'stance', stance,
      'checks', checks,
      'strays', (
        select jsonb_agg(jsonb_build_object('unit', holder.code, 'color', holder.attributes ->> 'color') order by holder.label)
        from unnest(scene.holders) as holder
        where holder.tank and not holder.stance and holder.place is null
      ),
      'caves', exists (select from unnest(scene.holders) as holder where holder.cave and holder.place is null)
    )
  )::ddp.phase_step;
  if not in_stance then
    return query
    select step.*
    from ddp._checked(
      scene, array(select one ->> 'place' from jsonb_array_elements(checks) as one), card, linked, '{}'
    ) as step;
  end if;
end
$$;

comment on function ddp.opening(bigint, jsonb, jsonb, jsonb) is
'What a Japanese Fire Phase begins with, by its card: communication, units in stance, positions to check, stray tanks; and where
nobody is in stance the checks themselves, as `ddp.checked` tells them.';

create or replace function ddp.volleys(
  position_id bigint, fields jsonb, acting text, conditions jsonb default null, policy jsonb default null
)
returns setof ddp.phase_step
language plpgsql stable rows 20
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  scene ddp.scene;
  state positions.state;
  shooters ddp.shooter[] := array(
    select jsonb_populate_record(null::ddp.shooter, field) from jsonb_array_elements(fields) as field where not field ? 'manner'
  );
  before ddp.before[] := array(
    select one
    from jsonb_array_elements(fields) as field
    cross join lateral jsonb_populate_recordset(null::ddp.before, field -> 'before') as one
    where not field ? 'manner'
  );
begin
  select * into state from positions.state(position_id, conditions, policy);
  scene.state := state;
  scene.marines := array(select man from ddp._men(state, null) as man);
  return query
  select step.*
  from jsonb_array_elements(fields) as field
  cross join lateral ddp._struck_anew(scene, field) as step
  where field ? 'manner';
  return query
  select step.* from ddp._volleys(scene, shooters, before, acting) as step;
end
$$;

comment on function ddp.volleys(bigint, jsonb, text, jsonb, jsonb) is
'What positions may strike or hit now: `fields` are what `ddp.checked` told of them, since when units have lost steps and nobody has moved,
come or left.';

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
  scene ddp.scene;
  state positions.state;
begin
  -- neither dots nor distances of position hexes are asked for
  select * into state from positions.state(position_id, conditions, policy);
  scene.state := state;
  scene.ground := ddp._shores(state.map_id);
  scene.marines := array(select man from ddp._men(state, scene.ground) as man);
  scene.holders := array(select one from ddp._occupants(state, (scene.ground).spots) as one);
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
