-- needs: ddp/scene.sql, ddp/japanese_communication.sql, rulings/step.sql, charts/cells.sql
-- What a Japanese position does by a letter of the fire card in ddp (D-Day at Peleliu): 12.0, 13.2, 16.0, 18.35.
--
-- `ddp._situation` finds the row of the Japanese Action Chart and its action, `ddp.checked` (sql/ddp/checks.sql) asks it;
-- whoever then has a goal or a target asks `ddp.goals` (sql/ddp/goals.sql) or `ddp.strike` (sql/ddp/strikes.sql).

create or replace function ddp._linked(scene ddp.scene, linked text[])
returns text[]
language plpgsql stable
as $$
#variable_conflict use_variable
begin
  -- 11.22: as it was when the Fire Phase began, where that is told
  return coalesce(
    linked,
    array(
      select spot.label
      from ddp._japanese_communication(scene.state, (scene.ground).spots, scene.holders) as spot
      where spot.in_communication
      order by spot.label
    )
  );
end
$$;

comment on function ddp._linked(ddp.scene, text[]) is
'The position hexes in Japanese communication: as it was told, else as it is now (11.22).';

drop type if exists ddp.plight cascade;
create type ddp.plight as (
  place text,
  color text,
  held boolean,
  awake boolean,
  tank boolean,
  stance boolean,
  targets boolean,
  near integer,
  guns boolean,
  mountaintop boolean,
  free text array,
  cut_off text array,
  able text array,
  holders jsonb
);

comment on type ddp.plight is
'The situation of a position: held, by somebody undisrupted, by a tank, US units in its field, how near the nearest is.';
comment on column ddp.plight.free is 'Unoccupied hexes in communication with a US unit within three hexes, the lowest number first';
comment on column ddp.plight.cut_off is 'Unoccupied hexes out of communication with a US unit within three hexes';
comment on column ddp.plight.able is 'Its undisrupted units, those in stance apart';
comment on column ddp.plight.holders is 'Its units, those in stance apart, as far as an action asks for them';

create or replace function ddp._plights(scene ddp.scene, places text[], linked text[])
returns setof ddp.plight
language plpgsql stable rows 10
as $$
#variable_conflict use_variable
declare
  -- positions with US units in their printed dots, and in those into which somebody fires
  printed text[] := array(
    select distinct dot.place
    from unnest((scene.ground).printed) as dot
    inner join ddp._marines(scene) as marine on marine.q = dot.q and marine.r = dot.r
  );
  fired_on text[] := array(
    select distinct dot.place
    from unnest(scene.dots) as dot
    inner join ddp._marines(scene) as marine on marine.q = dot.q and marine.r = dot.r
  );
begin
  return query
  select
    site.place,
    site.color,
    site.held,
    holder.awake,
    holder.tank,
    holder.stance,
    site.place = any(fired_on) or (not holder.awake and site.place = any(printed)),
    site.near,
    site.guns,
    site.mountaintop,
    site.free,
    site.cut_off,
    holder.able,
    holder.told
  from (
    select
      site.place,
      min(site.color) as color,
      bool_or(site.held is not null) as held,
      min(site.near) as near,
      bool_or(site.guns) as guns,
      bool_or(site.mountaintop) as mountaintop,
      array_agg(site.label order by site.number, site.id, site.label)
        filter (where site.held is null and not site.taken and site.near <= 3 and site.label = any(linked)) as free,
      array_agg(site.label order by site.number, site.id, site.label)
        filter (where site.held is null and not site.taken and site.near <= 3 and site.label <> all(linked)) as cut_off
    from unnest(scene.sites) as site
    where site.place = any(places)
    group by site.place
  ) as site
  cross join lateral (
    select
      coalesce(bool_or(not holder.disrupted and not holder.stance), false) as awake,
      coalesce(bool_and(holder.tank) filter (where not holder.stance), false) as tank,
      coalesce(bool_and(holder.stance), false) as stance,
      coalesce(array_agg(holder.code) filter (where not holder.disrupted and not holder.stance), '{}') as able,
      coalesce(
        jsonb_agg(
          jsonb_build_object(
            'unit', holder.code, 'label', holder.label, 'disrupted', holder.disrupted, 'tank', holder.tank,
            'depth', holder.depth, 'fortification', holder.fortification, 'in_communication', holder.label = any(linked)
          )
          order by holder.q, holder.label, holder.fortification
        ) filter (where not holder.stance),
        '[]'
      ) as told
    from unnest(scene.holders) as holder
    where holder.place = site.place
  ) as holder
  order by array_position(places, site.place);
end
$$;

comment on function ddp._plights(ddp.scene, text[], text[]) is
'The situation of positions, from which their rows of the Japanese Action Chart follow (12.0).';

create or replace function ddp._chart_action(conditions jsonb, plight ddp.plight, letter text)
returns text
language plpgsql stable
as $$
#variable_conflict use_variable
declare
  ridge boolean := ddp._ridge(conditions);
  row_key text := case
    when plight.held and plight.tank then 'tank'
    when plight.held and plight.targets then 'us_in_field'
    when plight.held then 'no_us_in_field'
    else 'unoccupied'
  end;
  -- a row of its own for some positions, where the chart has one
  own text := case
    when ridge and plight.mountaintop then '/mountaintop'
    when plight.guns and not ridge then '/artillery_position'
  end;
  action text;
begin
  if ridge then
    if not plight.held then
      return 'none';
    end if;
    row_key := 'bnr/' || row_key;
  end if;
  if own is not null then
    action := (
      select nullif(cell.value, '-')
      from charts.cell('ddp', 'japanese_action_summary', row_key || own, coalesce(letter, 'none')) as cell
    );
  end if;
  return coalesce(
    action,
    (
      select cell.value
      from charts.cell('ddp', 'japanese_action_summary', row_key, coalesce(letter, 'none')) as cell
    )
  );
end
$$;

comment on function ddp._chart_action(jsonb, ddp.plight, text) is
'The cell of the Japanese Action Chart for a situation and a letter in force; null is no letter (chart, 12.0, 18.35).';

create or replace function ddp._situation_step(plight ddp.plight, rule text, effect text, note text, point text default null)
returns rulings.ledger_step
language plpgsql immutable
as $$
begin
  return row(rule, null, plight.place, effect, note, point, null, null, null)::rulings.ledger_step;
end
$$;

comment on function ddp._situation_step(ddp.plight, text, text, text, text) is
'A rule that speaks when a position is checked, told at the position.';

create or replace function ddp._held_step(plight ddp.plight, action text)
returns rulings.ledger_step
language plpgsql stable
as $$
begin
  if not plight.awake and not plight.tank then
    return ddp._situation_step(plight, '6.4', 'none', 'whoever is there is disrupted and does nothing');
  elsif not plight.awake then
    return ddp._situation_step(
      plight, '13.2', action,
      case
        when action = 'recover' then 'a disrupted tank first loses its marker, and does nothing else'
        else 'a disrupted tank loses its marker when all fire is done'
      end,
      'ddp-58'
    );
  elsif plight.targets then
    return ddp._situation_step(plight, '12.0', 'us in field', 'US units are in its field of fire');
  else
    return ddp._situation_step(plight, '12.0', 'no us in field', 'no US unit is in its field of fire');
  end if;
end
$$;

comment on function ddp._held_step(ddp.plight, text) is
'Who is in a position that is checked, and whether US units are in its field (6.4, 12.0, 13.2).';

create or replace function ddp._empty_steps(state positions.state, plight ddp.plight, letter text)
returns rulings.ledger_step[]
language plpgsql stable
as $$
declare
  ridge boolean := ddp._ridge(state.conditions);
  steps rulings.ledger_step[] := '{}';
begin
  if letter in ('M', 'R', 'A') and plight.free is null and not ridge then
    steps := steps || ddp._situation_step(
      plight, '12.0', 'none', 'it is empty, and no hex of it is free, in communication and within three hexes of a US unit'
    );
  end if;
  if letter = 'A' and plight.free is not null and not plight.targets then
    steps := steps || ddp._situation_step(plight, '12.9', 'none', 'no US unit is in its field of fire', 'ddp-37');
  end if;
  if letter = 'I' and not ridge then
    steps := steps || case
      when plight.cut_off is null then ddp._situation_step(
        plight, '12.10', 'none', 'no hex of it is free, out of communication and within three hexes of a US unit', 'ddp-19'
      )
      else ddp._situation_step(
        plight, '12.10', 'cut off', 'out of communication, a unit may infiltrate into it', 'ddp-19'
      )
    end;
  end if;
  if letter is null then
    steps := steps || ddp._situation_step(plight, '12.0', 'none', 'it is empty, and acts by a letter alone');
  end if;
  if ridge then
    steps := steps || ddp._situation_step(plight, '18.35', 'none', 'an unoccupied position does nothing');
  end if;
  return steps;
end
$$;

comment on function ddp._empty_steps(positions.state, ddp.plight, text) is
'What an empty position that is checked may do by a letter (12.0, 12.9, 12.10, 18.35).';

create or replace function ddp._situation_steps(state positions.state, plight ddp.plight, letter text, printed text, action text)
returns rulings.ledger_step[]
language plpgsql stable
as $$
#variable_conflict use_variable
declare
  ridge boolean := ddp._ridge(state.conditions);
  steps rulings.ledger_step[] := '{}';
  night boolean := ddp._overnight(state.conditions);
begin
  if letter is not null then
    steps := steps || ddp._situation_step(plight, '12.0', letter, format('the letter %s is in force', letter));
  elsif printed = 'M' and night then
    steps := steps || ddp._situation_step(plight, '16.0', 'no letter', 'at night an M is no letter');
  elsif printed is not null then
    steps := steps || ddp._situation_step(plight, '12.0', 'no letter', format('%s is not in force yet', printed));
  end if;
  if plight.held then
    steps := steps || ddp._held_step(plight, action);
  else
    steps := steps || ddp._empty_steps(state, plight, letter);
  end if;
  if plight.awake and letter = 'A' and plight.guns and not plight.tank and not ridge then
    steps := steps || ddp._situation_step(plight, '12.8', 'artillery position', 'it has guns, and does not assault');
  end if;
  if night and plight.awake and letter = 'A' and plight.guns and not plight.targets then
    steps := steps || ddp._situation_step(plight, '16.0', 'none', 'at night the artillery action is no action');
  end if;
  if ridge and plight.awake and letter = 'P' and not plight.targets then
    steps := steps || ddp._situation_step(
      plight, '18.35', action, 'a patrol without targets, by the chart of Bloody Nose Ridge', 'ddp-20'
    );
  end if;
  if ridge and plight.awake and letter = 'M' and plight.targets then
    steps := steps || ddp._situation_step(plight, '18.35', action, 'fire on an M, by the chart of Bloody Nose Ridge', 'ddp-21');
  end if;
  return steps;
end
$$;

comment on function ddp._situation_steps(positions.state, ddp.plight, text, text, text) is
'Every rule that speaks when a position is checked for an action (12.0, 13.2, 16.0, 18.35).';

create or replace function ddp._action(state positions.state, plight ddp.plight, letter text)
returns text
language plpgsql stable
as $$
#variable_conflict use_variable
declare
  reading jsonb := state.readings;
  action text;
begin
  action := case
    when plight.stance then 'none'
    when plight.held and not plight.awake and plight.tank
      then case when reading ->> 'ddp-58' = 'b' then 'none' else 'recover' end
    when plight.held and not plight.awake then 'none'
    when not plight.held and letter in ('M', 'R') and plight.free is null then 'none'
    when not plight.held and letter = 'A'
      and (plight.free is null or not plight.targets or reading ->> 'ddp-37' = 'b') then 'none'
    when not plight.held and letter = 'I' and plight.cut_off is null then 'none'
    else ddp._chart_action(state.conditions, plight, letter)
  end;
  action := case
    when action = 'artillery_fire' and ddp._overnight(state.conditions) then 'none'
    when ddp._ridge(state.conditions) and plight.awake and letter = 'P' and not plight.targets
      and reading ->> 'ddp-20' = 'b' then 'patrol'
    when ddp._ridge(state.conditions) and plight.awake and letter = 'M' and plight.targets
      and reading ->> 'ddp-21' = 'b' then 'machine_guns'
    else action
  end;
  return action;
end
$$;

comment on function ddp._action(positions.state, ddp.plight, text) is
'The action of a position by a letter in force, as the chart and the contested points have it; none where it does nothing.';

create or replace function ddp._situation(
  state positions.state, plight ddp.plight, printed text, letter text, action text, connected text[]
)
returns rulings.ledger_step[]
language plpgsql stable
as $$
#variable_conflict use_variable
begin
  return ddp._situation_steps(state, plight, letter, printed, action) || row(
    '12.0', null, plight.place, action,
    case when action = 'none' then 'it does nothing' else format('its action is %s', replace(action, '_', ' ')) end,
    null, null, null,
    to_jsonb(plight) || jsonb_build_object(
      'action', action,
      'letter', letter,
      'row', case
        when plight.held and plight.tank then 'tank'
        when plight.held and plight.targets then 'us_in_field'
        when plight.held then 'no_us_in_field'
        else 'unoccupied'
      end,
      'linked', connected,
      'ridge', ddp._ridge(state.conditions),
      'ddp-14', state.readings ->> 'ddp-14'
    )
  )::rulings.ledger_step;
end
$$;

comment on function ddp._situation(positions.state, ddp.plight, text, text, text, text[]) is
'The row of the Japanese Action Chart in which a position finds itself, and its action by a letter in force; the verdict last.';
